import { ConfigError } from '../../../model/config-error.ts'
import type { Connection } from '../client/connection.ts'

/** Throws a ConfigError for a file in another encoding. */
export function assertUtf8(connection: Connection, path: string): void {
  const [[encoding] = []] = connection.all('pragma encoding', [])
  if (encoding === 'UTF-8') return
  throw new ConfigError([
    `database: ${path} is encoded in ${encoding as string}, in which text sorts differently; UTF-8 is required`,
  ])
}
