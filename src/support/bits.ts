/** A set of small numbers, one bit for each. Sets that are combined have the same length. */
export type Bits = Uint32Array

export const emptyBits = (size: number): Bits => new Uint32Array((size + 31) >>> 5)

export function addBit(bits: Bits, number: number): void {
  bits[number >>> 5] = (bits[number >>> 5] as number) | (1 << (number & 31))
}

export const hasBit = (bits: Bits, number: number): boolean =>
  ((bits[number >>> 5] as number) & (1 << (number & 31))) !== 0

export function intersection(sets: readonly Bits[], size: number): Bits {
  const all = emptyBits(size).fill(0xffffffff)
  for (const bits of sets) for (let at = 0; at < all.length; at++) all[at] = (all[at] as number) & (bits[at] as number)
  return all
}

export function union(sets: readonly Bits[], size: number): Bits {
  const all = emptyBits(size)
  for (const bits of sets) for (let at = 0; at < all.length; at++) all[at] = (all[at] as number) | (bits[at] as number)
  return all
}

/** The numbers that are not in the set. */
export const complement = (bits: Bits): Bits => bits.map((word) => ~word)
