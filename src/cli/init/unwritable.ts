import { basename, dirname } from 'node:path'
import { CommandError } from '../command.ts'

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
}

/** The error of a file that cannot be written, with the reason in words where it is a frequent one. */
export function unwritable(path: string, error: unknown): CommandError {
  const { code = '', message } = error as NodeJS.ErrnoException
  return new CommandError(`${basename(path)} cannot be written in ${dirname(path)}: ${reasons[code] ?? message}`)
}
