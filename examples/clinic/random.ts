/** Numbers that look random and are the same on every run, so that everybody's clinic is the same. */
export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number
  /** A whole number, both ends included. */
  between(least: number, most: number): number
  chance(part: number): boolean
  pick<T>(list: readonly T[]): T
  /** Some of a list, each at most once, in its order. */
  some<T>(list: readonly T[], count: number): T[]
  digits(count: number): string
  uuid(): string
}

/** The generator is Mulberry32: four lines, and good enough for names of cats. */
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
    chance: (part) => next() < part,
    some(list, count) {
      const chosen = new Set(Array.from({ length: count }, () => pick(list)))
      return list.filter((item) => chosen.has(item))
    },
    digits: (count) => text('0123456789', count),
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
  }
}
