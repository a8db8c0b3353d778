/** Pseudo-random values that are the same on every run, so that all clinics have the same records. */
export interface Random {
  /** A number from 0 (included) to 1 (excluded). */
  next(): number
  /** An integer between both bounds, included. */
  between(least: number, most: number): number
  /** True with the given probability. */
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
  /** At most `count` different items of a list, in its order. */
  some<T>(list: readonly T[], count: number): T[]
  digits(count: number): string
  uuid(): string
}

/** The generator is Mulberry32, which is short and sufficient for sample data. */
export function createRandom(seed: number): Random {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  const pick = <T>(list: readonly T[]): T => list[between(0, list.length - 1)] as T
  const text = (alphabet: string, count: number) => Array.from({ length: count }, () => pick([...alphabet])).join('')
  const hex = (count: number) => text('0123456789abcdef', count)
  return {
    next,
    between,
    pick,
    chance: (probability) => next() < probability,
    some(list, count) {
      const chosen = new Set(Array.from({ length: count }, () => pick(list)))
      return list.filter((item) => chosen.has(item))
    },
    digits: (count) => text('0123456789', count),
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
  }
}
