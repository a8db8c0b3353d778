import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { CommandError } from '../command.ts'

const reasons: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder',
  EACCES: 'this user may not read it',
  ELOOP: 'it is a link to itself',
}

/** The text of a file; undefined when there is none. Throws a CommandError for one that cannot be read. */
export function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new CommandError(
      `${basename(path)} cannot be read in ${dirname(path)}: ${reasons[code] ?? message}. Nothing was written.`,
    )
  }
}
