import { DatabaseError, type Query, type Row } from './driver.ts'

/** No rows of a damaged table: it does not keep the service from starting, and requests that need it are refused. */
export async function ifReadable(read: () => ReturnType<Query>): Promise<readonly Row[]> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof DatabaseError && error.reason.kind === 'damaged') return []
    throw error
  }
}
