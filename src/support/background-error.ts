import { errorText } from './error-text.ts'

/** The failure of work that no request waits for. The message begins with `work`, which could not be done, and the cause follows. */
export const backgroundError = (work: string, cause: unknown): Error =>
  new Error(`${work}: ${errorText(cause)}`, { cause })
