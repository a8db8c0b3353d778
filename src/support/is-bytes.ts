import { isUint8Array } from 'node:util/types'

/**
 * Whether a value is bytes, also of another realm: test runners with jsdom replace the global `Uint8Array`, so that a `Buffer`
 * is no instance of it.
 */
export const isBytes = (value: unknown): value is Uint8Array =>
  typeof value === 'object' && value !== null && isUint8Array(value)
