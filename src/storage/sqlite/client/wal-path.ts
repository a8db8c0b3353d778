import { realpathSync } from 'node:fs'

/** SQLite keeps the write-ahead log beside the file that a link leads to. */
export function walPath(path: string): string {
  try {
    return `${realpathSync(path)}-wal`
  } catch {
    return `${path}-wal`
  }
}

/** The index of the write-ahead log, which the processes share. */
export const shmPath = (path: string): string => walPath(path).replace(/-wal$/, '-shm')
