import type { Json } from '../protocol/json.ts'

/** Half of the numbers that a generated key can be. */
const largestGivenKey = { integer: 2n ** 52n, bigint: 2n ** 62n }

/**
 * A database counts on from the largest key. If a client gave the last number, no other client could create a record: the
 * numbers after it are not exact in JavaScript, or do not exist.
 */
export const leavesNoKeys = (value: Json, storedAs: string): boolean =>
  BigInt(value as number | string) > largestGivenKey[storedAs === 'bigint' ? 'bigint' : 'integer']
