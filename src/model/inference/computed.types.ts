/*
 * Computed attributes: in records, inputs, conditions and orders, and the mistakes in their definitions.
 */
import type { Equal, Expect } from './clinic.types.ts'
import { declare } from './clinic.types.ts'
import type { CreateInput, RecordOf, UpdateInput } from './record-of.ts'
import type { Sort } from './sort-of.ts'
import type { Where } from './where-of.ts'

const models = declare({
  models: {
    person: {
      attributes: {
        createdAt: false,
        updatedAt: false,
        first: { type: 'string', required: true },
        last: { type: 'string' },
        full: {
          type: 'string',
          computed: ['first', 'last'],
          get: ({ first, last }: { first: string; last: string | null }) => `${first} ${last ?? ''}`,
          sql: ({ first, last }) => `${first} || ' ' || coalesce(${last}, '')`,
        },
        length: { type: 'number', computed: ['full'], get: ({ full }) => full.length },
      },
    },
  },
})
type People = typeof models
type Person = { id: number; first: string; last: string | null; full: string | null; length: number | null }

export type Checks = [
  Expect<Equal<RecordOf<People, 'person'>, Person>>,
  Expect<Equal<CreateInput<People, 'person'>, { id?: number; first: string; last?: string | null }>>,
  Expect<Equal<UpdateInput<People, 'person'>, { first?: string; last?: string | null }>>,
  Expect<Equal<keyof Where<People, 'person'>, 'id' | 'first' | 'last' | 'full' | 'and' | 'or' | 'not'>>,
]
export const found: Where<People, 'person'> = { full: { startsWith: 'A' } }
export const sorted: Sort<People, 'person'> = 'full DESC'
// @ts-expect-error it has no `sql`
export const unfound: Where<People, 'person'> = { length: 3 }
// @ts-expect-error it has no `sql`
export const unsorted: Sort<People, 'person'> = 'length'

declare({
  models: {
    person: {
      attributes: {
        first: { type: 'string', required: true },
        // @ts-expect-error no such attribute
        a: { type: 'string', computed: ['frist'], get: () => 'x' },
        // @ts-expect-error another type
        b: { type: 'number', computed: ['first'], get: () => 'x' },
        // @ts-expect-error a text is given
        c: { type: 'string', computed: ['first'], get: ({ first }: { first: number }) => String(first) },
        // @ts-expect-error no function
        d: { type: 'string', computed: ['first'] },
        e: { type: 'datetime', computed: ['createdAt', 'id'], get: ({ createdAt }) => new Date(createdAt) },
      },
      // @ts-expect-error it has no column
      indexes: [['e']],
    },
  },
})
