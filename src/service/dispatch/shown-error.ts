import { isMarkedInternal } from '../../operation/hooks/call-hook.ts'

/**
 * An error as it is answered. What code of the application failed to do on behalf of the system is an internal error: its
 * message may name what the requester must not know.
 */
export const shownError = (error: unknown): unknown =>
  isMarkedInternal(error) ? new Error(`Code of the application failed: ${error.message}`, { cause: error }) : error
