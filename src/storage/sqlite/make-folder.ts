import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it. `mkdirSync` with `recursive` does not return where the system answers `ENOENT` below a
 * folder that exists, as it does in `/proc`.
 */
export function makeFolder(path: string): void {
  const parent = dirname(path)
  if (parent !== path && !existsSync(parent)) makeFolder(parent)
  try {
    mkdirSync(path)
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}
