import fc from 'fast-check'
import { userNames } from './rules.ts'
import type { Watching } from './view.ts'

/** One write. Numbers select among the records that exist when it is done. */
export interface Write {
  readonly what: (typeof writes)[number]
  readonly by: 'http' | 'socket' | 'foreign'
  readonly server: number
  readonly one: number
  readonly other: number
}

/** What becomes of a listener. */
export type Treatment = 'leave' | 'cut' | 'resume' | 'stall' | 'go on'

export type Step =
  | { readonly do: 'write'; readonly write: Write }
  /** All at once; the next steps are taken while they are under way, unless they are awaited. */
  | {
      readonly do: 'burst'
      readonly writes: readonly Write[]
      readonly awaited: boolean
      /** Meanwhile all sockets request the records once more. */
      readonly findAgain: boolean
      /** All sockets that are subscribed to pets change the same one, as other clients do. */
      readonly writeOverListeners: boolean
    }
  | {
      readonly do: 'listen'
      readonly by: 'stream' | 'socket' | 'loop'
      readonly watching: Watching
      readonly server: number
    }
  | { readonly do: Treatment; readonly which: number; readonly server: number }
  | { readonly do: 'kill' | 'stop' | 'start'; readonly server: number }
  | { readonly do: 'trim' }
  | { readonly do: 'fence' }

export const writes = [
  'create pet',
  'create pet with tags',
  'create owner with pets',
  'create tag',
  'update pet',
  'update pet twice at once',
  'give pet away',
  'update owner',
  'destroy pet',
  'destroy owner',
  'destroy tag',
  'add tag',
  'remove tag',
  'replace tags',
  'replace pets',
  'refused',
  'many',
  'swap pet keys',
  'reuse pet key',
  'leave filter and destroy',
  'move and destroy',
  'create and destroy',
  'reuse owner key',
] as const

const small = fc.nat(9999)

const write: fc.Arbitrary<Write> = fc.record({
  what: fc.constantFrom(...writes),
  by: fc.constantFrom('http', 'http', 'socket', 'foreign', 'foreign'),
  server: fc.nat(1),
  one: small,
  other: small,
})

const watching: fc.Arbitrary<Watching> = fc.constantFrom(
  { model: 'pet', isHeavy: false },
  { model: 'pet', isHeavy: true },
  { model: 'owner', isHeavy: false },
  { model: 'tag', isHeavy: false },
)

const watchingAsUser: fc.Arbitrary<Watching> = fc
  .tuple(watching, fc.constantFrom(...userNames))
  .map(([{ model }, user]) => ({ model, isHeavy: false, user }))

const stepOf = (watching: fc.Arbitrary<Watching>): fc.Arbitrary<Step> =>
  fc.oneof(
    { weight: 24, arbitrary: fc.record({ do: fc.constant('write' as const), write }) },
    {
      weight: 16,
      arbitrary: fc.record({
        do: fc.constant('burst' as const),
        writes: fc.array(write, { minLength: 2, maxLength: 10 }),
        awaited: fc.boolean(),
        findAgain: fc.boolean(),
        writeOverListeners: fc.boolean(),
      }),
    },
    {
      weight: 7,
      arbitrary: fc.record({
        do: fc.constant('listen' as const),
        by: fc.constantFrom('stream', 'socket', 'loop'),
        watching,
        server: fc.nat(1),
      }),
    },
    {
      weight: 18,
      arbitrary: fc.record({
        do: fc.constantFrom('leave', 'cut', 'cut', 'resume', 'resume', 'stall', 'go on'),
        which: small,
        server: fc.nat(1),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('kill', 'kill', 'stop'), server: fc.nat(1) }) },
    { weight: 8, arbitrary: fc.record({ do: fc.constant('start' as const), server: fc.nat(1) }) },
    { weight: 1, arbitrary: fc.constant({ do: 'trim' as const }) },
    { weight: 8, arbitrary: fc.constant({ do: 'fence' as const }) },
  )

const steps = (isRuled: boolean) => stepOf(isRuled ? watchingAsUser : watching)

/** So many things that happen, one after another. */
export const planOf = (seed: number, count: number, isRuled: boolean): readonly Step[] => {
  const plan = fc.array(steps(isRuled), { minLength: count, maxLength: count, size: 'max' })
  return fc.sample(plan, { seed, numRuns: 1 })[0] ?? []
}

/** What a plan of so many can be shortened to. */
export const plans = (count: number, isRuled: boolean): fc.Arbitrary<readonly Step[]> =>
  fc.array(steps(isRuled), { maxLength: count, size: 'max' })
