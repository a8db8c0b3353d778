import assert from 'node:assert/strict'
import { type ErrorCode, type InvalidAttributes, ServiceError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { StorageCase } from '../storage-case.ts'
import { Tables } from '../tables.ts'

/** The error of a rejected write. */
async function refusal(write: () => Promise<unknown>, code: ErrorCode): Promise<ServiceError> {
  const error = await write().then(
    () => assert.fail('the write was not refused'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof ServiceError, `not an error of the service: ${error}`)
  assert.equal(error.code, code, error.message)
  return error
}

function brokenRules({ details }: ServiceError): Readonly<Record<string, readonly string[]>> {
  const found: InvalidAttributes = details.invalidAttributes ?? {}
  return Object.fromEntries(
    Object.entries(found).map(([name, violations]) => [name, violations.map(({ rule }) => rule)]),
  )
}

/** Database errors name model and attributes, and a failed write changes nothing. */
export const faults: readonly StorageCase[] = [
  {
    name: 'errors: a duplicate value names its attribute, by insert and by update',
    async run({ store, models }) {
      const tables = new Tables(models)
      const ann = await tables.insert(store, 'keeper', { name: 'Ann', email: 'ann@zoo.test' })
      const bob = await tables.insert(store, 'keeper', { name: 'Bob', email: 'bob@zoo.test' })
      const asked = [
        () => tables.insert(store, 'keeper', { name: 'Cy', email: 'ann@zoo.test' }),
        () => tables.update(store, 'keeper', bob.id as number, { email: 'ann@zoo.test' }),
        () =>
          store.transaction((transaction) =>
            tables.insert(transaction, 'keeper', { name: 'Cy', email: 'bob@zoo.test' }),
          ),
      ]
      for (const ask of asked)
        assert.deepEqual(brokenRules(await refusal(ask, 'E_INVALID_ATTRIBUTES')), { email: ['unique'] })
      assert.deepEqual(await tables.find(store, 'keeper'), [ann, bob])
    },
  },
  {
    name: 'errors: a duplicate of two attributes names both, and null is equal to nothing',
    async run({ store, models }) {
      const tables = new Tables(models)
      const visit = (values: JsonObject) => tables.insert(store, 'visit', values)
      const first = await visit({ day: 'Monday', slot: 1 })
      const second = await visit({ day: 'Monday', slot: 2 })
      await visit({ day: 'Tuesday', slot: 1 })
      await visit({ day: 'Monday' })
      await visit({ day: 'Monday', slot: null })
      const refused = [
        () => visit({ day: 'Monday', slot: 1 }),
        () => tables.update(store, 'visit', second.id as number, { slot: 1 }),
        () => tables.update(store, 'visit', second.id as number, { day: 'Tuesday', slot: 1 }),
      ]
      for (const write of refused) {
        const error = await refusal(write, 'E_INVALID_ATTRIBUTES')
        assert.deepEqual(brokenRules(error), { day: ['unique'], slot: ['unique'] })
      }
      assert.deepEqual(await tables.find(store, 'visit', { day: 'Monday', slot: [1, 2] }), [first, second])
      await tables.update(store, 'visit', first.id as number, { day: 'Monday', slot: 1, state: 'done' })
    },
  },
  {
    name: 'errors: a partial unique index compares the records of its condition only',
    async run({ store, models }) {
      const tables = new Tables(models)
      const ann = (await tables.insert(store, 'keeper', { name: 'Ann' })).id as number
      const visit = (slot: number, state: string | null, guide: number | null = ann) =>
        tables.insert(store, 'visit', { day: 'Monday', slot, state, guide })
      const open = await visit(1, 'open')
      const done = await visit(2, 'done')
      for (const [slot, state] of [
        [3, 'done'],
        [4, null],
      ] as const)
        await visit(slot, state)
      await visit(5, 'open', null)
      await visit(6, 'open', null)
      const refused = [
        () => visit(7, 'open'),
        () => tables.update(store, 'visit', done.id as number, { state: 'open' }),
      ]
      for (const write of refused) {
        assert.deepEqual(brokenRules(await refusal(write, 'E_INVALID_ATTRIBUTES')), { guide: ['unique'] })
      }
      await tables.update(store, 'visit', open.id as number, { state: null })
      await tables.update(store, 'visit', done.id as number, { state: 'open' })
    },
  },
  {
    name: 'errors: a duplicate key is named, for each type of key',
    async run({ store, models }) {
      const tables = new Tables(models)
      const animal = (await tables.insert(store, 'animal', { name: 'Leo' })).id as number
      const { id } = await tables.insert(store, 'specimen', {})
      await tables.insert(store, 'enclosure', { code: 'A' })
      await tables.insert(store, 'ticket', { id: '9007199254740993' })
      const feeding = (await tables.insert(store, 'feeding', { grams: 1, animal })).id as string
      const cases = [
        ['specimen', { id: id as number }, 'id'],
        ['enclosure', { code: 'A' }, 'code'],
        ['ticket', { id: '9007199254740993' }, 'id'],
        ['feeding', { id: feeding, grams: 1, animal }, 'id'],
      ] as const
      for (const [model, values, name] of cases) {
        const error = await refusal(() => tables.insert(store, model, values), 'E_INVALID_ATTRIBUTES')
        assert.deepEqual(brokenRules(error), { [name]: ['unique'] })
      }
    },
  },
  {
    name: 'errors: a reference to a missing record names its attribute',
    async run({ store, models }) {
      const tables = new Tables(models)
      const leo = await tables.insert(store, 'animal', { name: 'Leo' })
      const asked = [
        [() => tables.insert(store, 'animal', { name: 'Tom', keeper: 999999 }), { keeper: ['exists'] }],
        [
          () => tables.insert(store, 'animal', { name: 'Tom', keeper: 999999, enclosure: 'no' }),
          { keeper: ['exists'], enclosure: ['exists'] },
        ],
        [() => tables.update(store, 'animal', leo.id as number, { enclosure: 'no' }), { enclosure: ['exists'] }],
        [
          () => store.transaction((transaction) => tables.insert(transaction, 'feeding', { grams: 1, animal: 999999 })),
          { animal: ['exists'] },
        ],
      ] as const
      for (const [ask, rules] of asked) assert.deepEqual(brokenRules(await refusal(ask, 'E_INVALID_ATTRIBUTES')), rules)
      assert.deepEqual(await tables.find(store, 'animal'), [leo])
    },
  },
  {
    name: 'errors: null for a required attribute is refused, and the error names it',
    async run({ store, models }) {
      const tables = new Tables(models)
      const ann = await tables.insert(store, 'keeper', { name: 'Ann' })
      const error = await refusal(
        () => tables.update(store, 'keeper', ann.id as number, { name: null }),
        'E_INVALID_ATTRIBUTES',
      )
      assert.deepEqual(brokenRules(error), { name: ['required'] })
      assert.deepEqual(await tables.find(store, 'keeper'), [ann])
    },
  },
  {
    name: 'errors: messages contain no text of the database',
    async run({ store, models }) {
      const tables = new Tables(models)
      await tables.insert(store, 'enclosure', { code: 'A' })
      const { message, details } = await refusal(
        () => tables.insert(store, 'enclosure', { code: 'A' }),
        'E_INVALID_ATTRIBUTES',
      )
      const { cause: _, ...shown } = details
      assert.doesNotMatch(`${message} ${JSON.stringify(shown)}`, /constraint|sqlite|postgres|enclosures"|the code/i)
    },
  },
  {
    name: 'errors: of many concurrent writes only the invalid ones fail',
    async run({ store, models }) {
      const tables = new Tables(models)
      const writes = Array.from({ length: 20 }, (_, index) =>
        tables.insert(store, 'team', { title: index % 2 ? 'same' : `own ${index}` }),
      )
      const settled = await Promise.allSettled(writes)
      const failed = settled.filter(({ status }) => status === 'rejected')
      assert.equal(failed.length, 9)
      assert.equal((await tables.find(store, 'team')).length, 11)
    },
  },
]
