import assert from 'node:assert/strict'
import { type Criteria, primaryKeyEquals } from '../../criteria/criteria.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { encodeList, type Records } from '../../storage/store.ts'
import type { StorageCase } from '../storage-case.ts'
import { Tables } from '../tables.ts'

const full: JsonObject = {
  label: 'Zoë 🦁 \u2028 "\\',
  weight: 0.1 + 0.2,
  legs: -9007199254740991,
  serial: '-9223372036854775808',
  alive: false,
  notes: { b: [1, null, 'x'], a: { '': 5e-324 } },
  bornAt: '0001-01-01T00:00:00.001Z',
  token: '0190163d-8694-739b-aea5-966c26f8ad90',
  photo: 'AAEC/w==',
}

/** Writing and reading records. */
export const records: readonly StorageCase[] = [
  {
    name: 'records: inserted values are returned, found and encoded unchanged',
    async run({ store, models }) {
      const tables = new Tables(models)
      const made = await tables.insert(store, 'specimen', full)
      for (const [name, value] of Object.entries(full)) assert.deepEqual(made[name], value, name)
      assert.deepEqual(await tables.one(store, 'specimen', made.id as number), made)
      const found = await store.find(tables.model('specimen'), tables.criteria('specimen'))
      assert.deepEqual(
        [found.length, found.decode(), JSON.parse(encodeList(found)), JSON.parse(found.encodeAt(0))],
        [1, [made], [made], made],
      )
      for (const attribute of tables.model('specimen').attributes.values()) {
        assert.deepEqual(found.values(attribute), [made[attribute.name]], attribute.name)
      }
    },
  },
  {
    name: 'records: null is stored for every type',
    async run({ store, models }) {
      const tables = new Tables(models)
      const made = await tables.insert(store, 'specimen', {})
      for (const name of Object.keys(full)) assert.equal(made[name], null, name)
      assert.deepEqual(await tables.one(store, 'specimen', made.id as number), made)
    },
  },
  {
    name: 'records: decoded rows are independent objects',
    async run({ store, models }) {
      const tables = new Tables(models)
      const made = await tables.insert(store, 'specimen', { notes: { list: [1] } })
      ;(made.notes as { list: number[] }).list.push(2)
      assert.deepEqual((await tables.one(store, 'specimen', made.id as number))?.notes, { list: [1] })
    },
  },
  {
    name: 'records: an update returns all matching rows after the change, and changes no others',
    async run({ store, models }) {
      const tables = new Tables(models)
      for (const legs of [1, 2, 2]) await tables.insert(store, 'specimen', { legs, label: 'old' })
      const specimen = tables.model('specimen')
      const updated = await store.update(
        specimen,
        tables.where('specimen', { legs: 2 }),
        tables.assignments('specimen', { label: 'new', legs: 3 }),
      )
      assert.deepEqual(
        updated.decode().map(({ label, legs }) => [label, legs]),
        [
          ['new', 3],
          ['new', 3],
        ],
      )
      assert.deepEqual(
        (await tables.find(store, 'specimen')).map(({ label, legs }) => [label, legs]),
        [
          ['old', 1],
          ['new', 3],
          ['new', 3],
        ],
      )
      assert.equal(
        (await store.update(specimen, primaryKeyEquals(specimen, 999999), tables.assignments('specimen', { legs: 0 })))
          .length,
        0,
      )
    },
  },
  {
    name: 'records: an update without assignments returns the row',
    async run({ store, models }) {
      const tables = new Tables(models)
      const made = await tables.insert(store, 'specimen', full)
      assert.deepEqual(await tables.update(store, 'specimen', made.id as number, {}), [made])
    },
  },
  {
    name: 'records: values of every type can be updated, and set to null',
    async run({ store, models }) {
      const tables = new Tables(models)
      const { id } = await tables.insert(store, 'specimen', {})
      const [changed] = await tables.update(store, 'specimen', id as number, full)
      for (const [name, value] of Object.entries(full)) assert.deepEqual(changed?.[name], value, name)
      const [cleared] = await tables.update(
        store,
        'specimen',
        id as number,
        Object.fromEntries(Object.keys(full).map((name) => [name, null])),
      )
      for (const name of Object.keys(full)) assert.equal(cleared?.[name], null, name)
    },
  },
  {
    name: 'records: a delete returns all matching rows',
    async run({ store, models }) {
      const tables = new Tables(models)
      const rows = []
      for (const legs of [1, 2, 2]) rows.push(await tables.insert(store, 'specimen', { ...full, legs }))
      const gone = await store.delete(tables.model('specimen'), tables.where('specimen', { legs: 2 }))
      assert.deepEqual(
        [...gone.decode()].sort((a, b) => Number(a.id) - Number(b.id)),
        rows.slice(1),
      )
      assert.deepEqual(await tables.find(store, 'specimen'), rows.slice(0, 1))
      assert.deepEqual(await tables.remove(store, 'specimen', 999999), [])
    },
  },
  {
    name: 'records: count equals the number of found records',
    async run({ store, models }) {
      const tables = new Tables(models)
      for (const legs of [1, 2, 2]) await tables.insert(store, 'specimen', { legs })
      for (const [where, count] of [
        [{}, 3],
        [{ legs: 2 }, 2],
        [{ legs: null }, 0],
        [{ not: { legs: 2 } }, 1],
      ] as const) {
        assert.equal(await store.count(tables.model('specimen'), tables.where('specimen', where)), count)
      }
    },
  },
  {
    name: 'records: a find returns one page of the selection and where the next begins',
    async run({ store, models }) {
      const tables = new Tables(models)
      const specimen = tables.model('specimen')
      for (const label of ['c', 'a', 'b']) await tables.insert(store, 'specimen', { label })
      const select = [...specimen.attributes.values()].filter(({ name }) => ['id', 'label'].includes(name))
      const sort = tables.sort('specimen', 'label')
      const page = (more: Partial<Criteria>) => ({ ...tables.criteria('specimen'), select, sort, limit: 2, ...more })
      const first = await store.find(specimen, page({}))
      assert.deepEqual(
        first.decode().map((row) => [Object.keys(row), row.label]),
        [
          [['id', 'label'], 'a'],
          [['id', 'label'], 'b'],
        ],
      )
      assert.ok(first.next)
      const second = await store.find(specimen, page({ after: first.next }))
      assert.deepEqual([second.decode().map(({ label }) => label), second.next], [['c'], undefined])
      assert.equal((await store.find(specimen, page({ limit: 3 }))).next, undefined)
      assert.deepEqual(
        (await store.find(specimen, page({ skip: 2 }))).decode().map(({ label }) => label),
        ['c'],
      )
    },
  },
  {
    name: 'records: criteria can be copied and reused',
    async run({ store, models }) {
      const tables = new Tables(models)
      const keeper = tables.model('keeper')
      const ann = (await tables.insert(store, 'keeper', { name: 'Ann' })).id as number
      await tables.insert(store, 'keeper', { name: 'Bob', mentor: ann })
      const trainees = keeper.associations.get('trainees')
      assert.ok(trainees)
      const names = (records: Records) => records.decode().map(({ name }) => name)
      const all = tables.criteria('keeper')
      assert.deepEqual(names(await store.find(keeper, all)), ['Ann', 'Bob'])
      assert.deepEqual(names(await store.find(keeper, { ...all, limit: 1 })), ['Ann'])
      assert.deepEqual(names((await store.related(trainees, [ann], all)).records), ['Bob'])
      assert.deepEqual(names(await store.find(keeper, all)), ['Ann', 'Bob'])
    },
  },
  {
    name: 'records: embedded members replace an attribute of their name, and follow the others',
    async run({ store, models }) {
      const tables = new Tables(models)
      const made = await tables.insert(store, 'specimen', { label: 'a' })
      const found = await store.find(tables.model('specimen'), tables.criteria('specimen'))
      const embedded = found.embed([
        { name: 'label', encode: () => '{"x":1}', decode: () => ({ x: 1 }) },
        { name: 'extra', encode: (index) => String(index), decode: (index) => index },
      ])
      const expected = { ...made, label: { x: 1 }, extra: 0 }
      assert.deepEqual([embedded.decode(), JSON.parse(embedded.encodeAt(0))], [[expected], expected])
      assert.deepEqual(found.decode(), [made])
    },
  },
  {
    name: 'records: a page of an association for each key, in the order of the keys',
    async run({ store, models }) {
      const tables = new Tables(models)
      const ids: number[] = []
      for (const name of ['Ann', 'Bob', 'Cy']) ids.push((await tables.insert(store, 'keeper', { name })).id as number)
      const [ann, bob, cy] = ids as [number, number, number]
      for (const [name, keeper] of [
        ['a', ann],
        ['b', cy],
        ['c', ann],
        ['d', ann],
        ['e', null],
      ] as const) {
        await tables.insert(store, 'animal', { name, keeper })
      }
      const animals = tables.model('keeper').associations.get('animals')
      assert.ok(animals)
      const criteria = { ...tables.criteria('animal'), sort: tables.sort('animal', 'name DESC'), limit: 2 }
      const { records, ends } = await store.related(animals, [cy, ann, bob], criteria)
      assert.deepEqual(
        [records.decode().map(({ name }) => name), ends],
        [
          ['b', 'd', 'c'],
          [1, 3, 3],
        ],
      )
      const keeper = tables.model('animal').associations.get('keeper')
      assert.ok(keeper)
      const parents = await store.related(keeper, [bob, 999999, ann], { ...tables.criteria('keeper'), limit: 1 })
      assert.deepEqual(
        [parents.records.decode().map(({ name }) => name), parents.ends],
        [
          ['Bob', 'Ann'],
          [1, 1, 2],
        ],
      )
      const none = await store.related(animals, [], criteria)
      assert.deepEqual([none.records.length, none.ends], [0, []])
    },
  },
  {
    name: 'records: junction rows are stored once, and found from both sides',
    async run({ store, models }) {
      const tables = new Tables(models)
      const ann = (await tables.insert(store, 'keeper', { name: 'Ann' })).id as number
      const night = (await tables.insert(store, 'team', { title: 'Night' })).id as number
      const junction = tables.junction('keeper', 'teams')
      const [near, far] = junction.key
      assert.ok(near && far)
      const pair = [near, far].map((attribute) => ({
        attribute,
        value: attribute.references?.name === 'keeper' ? ann : night,
      }))
      for (let round = 0; round < 2; round++)
        await store.transaction((transaction) => transaction.insertMissing(junction, pair))
      assert.equal(await store.count(junction, { kind: 'and', conditions: [] }), 1)
      for (const [name, association, key] of [
        ['keeper', 'teams', ann],
        ['team', 'members', night],
      ] as const) {
        const found = tables.model(name).associations.get(association)
        assert.ok(found)
        const { records } = await store.related(found, [key], tables.criteria(found.target.name))
        assert.deepEqual(records.values(found.target.primaryKey), [key === ann ? night : ann])
      }
    },
  },
  {
    name: 'records: a stored record is visible to the next read',
    async run({ store, models }) {
      const tables = new Tables(models)
      for (let round = 0; round < 20; round++) {
        const { id } = await tables.insert(store, 'specimen', { legs: round })
        assert.equal((await tables.one(store, 'specimen', id as number))?.legs, round)
        await tables.update(store, 'specimen', id as number, { legs: -round })
        assert.deepEqual(
          (await tables.find(store, 'specimen', { id: id as number })).map(({ legs }) => Number(legs) + round),
          [0],
        )
        await tables.remove(store, 'specimen', id as number)
        assert.equal(await tables.one(store, 'specimen', id as number), undefined)
      }
    },
  },
]
