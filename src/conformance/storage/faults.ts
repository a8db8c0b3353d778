import assert from 'node:assert/strict'
import { type ErrorCode, type InvalidAttributes, ServiceError } from '../../protocol/errors.ts'
import type { StorageCase } from '../storage-case.ts'
import { Tables } from '../tables.ts'

/** What a write was refused with. */
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

/** What a database complains of, in the words of the model; and what failed has left nothing behind. */
export const faults: readonly StorageCase[] = [
  {
    name: 'faults: a value that is taken is named by its attribute, by insert and by update',
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
    name: 'faults: a key that is taken is named, for each kind of key',
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
    name: 'faults: an association to nobody is named by its attribute',
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
    name: 'faults: null where there must be a value',
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
    name: 'faults: no word of the database reaches the client',
    async run({ store, models }) {
      const tables = new Tables(models)
      await tables.insert(store, 'enclosure', { code: 'A' })
      const { message, details } = await refusal(
        () => tables.insert(store, 'enclosure', { code: 'A' }),
        'E_INVALID_ATTRIBUTES',
      )
      const { cause: _, ...told } = details
      assert.doesNotMatch(`${message} ${JSON.stringify(told)}`, /constraint|sqlite|postgres|enclosures"|the code/i)
    },
  },
  {
    name: 'faults: of many writes at once only the wrong ones fail',
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
