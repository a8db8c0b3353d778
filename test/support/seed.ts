/**
 * The seed of histories, kills and random requests; their timing depends on the machine. The default is the same in each run,
 * so that a change is judged by what it changed; `KEELSON_TEST_SEED=random` tries other histories, and a number repeats one.
 */
export const seed = seedOf(process.env.KEELSON_TEST_SEED)

function seedOf(setting: string | undefined): number {
  if (setting === 'random') return Date.now() % 1_000_000
  const number = Number(setting ?? 1)
  if (!Number.isInteger(number)) throw new Error(`KEELSON_TEST_SEED must be an integer or "random", not "${setting}"`)
  return number
}
