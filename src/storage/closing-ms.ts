import type { Limits } from '../support/limits.ts'

/**
 * The part of `stopTimeoutMs` for closing the connections, after the requests and jobs have had the rest of it. What still waits
 * or runs then is given up: the clients that asked for it are cut off.
 */
export const closingMs = ({ stopTimeoutMs }: Limits): number => stopTimeoutMs * 0.1
