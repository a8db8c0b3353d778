import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { address, column, create, invalid, list, record, refused } from '../expect.ts'
import type { Answer, Api, Scenario } from '../scenario.ts'

const labels = async (api: Api): Promise<readonly unknown[]> => column(await api.request('GET', '/specimen'), 'label')

const createAll = (api: Api, model: string, records: readonly JsonObject[]): Promise<Answer> =>
  api.request('POST', `/${model}`, { body: records })

const withLegs = (path: string, legs: Json, more: JsonObject = {}): string =>
  address(path, { where: { legs }, ...more })

/** Conditions with an empty part, which every record fulfils. */
const selectingAll: readonly JsonObject[] = [
  {},
  { or: [{}, { label: 'a' }] },
  { and: [{}] },
  { not: { or: [] } },
  { id: { nin: [] } },
]

/** Writes of many records by one request. */
export const manyRecords: readonly Scenario[] = [
  {
    name: 'many records: a list creates its records in order and answers them with 201',
    async run(api) {
      const answer = await createAll(api, 'specimen', [{ label: 'b' }, { label: 'a', legs: 4 }])
      assert.equal(answer.status, 201, answer.text)
      const created = answer.body as readonly JsonObject[]
      assert.deepEqual(
        created.map(({ label, legs }) => [label, legs]),
        [
          ['b', null],
          ['a', 4],
        ],
      )
      assert.deepEqual(list(await api.request('GET', '/specimen')), created)
      assert.deepEqual((await createAll(api, 'specimen', [])).body, [])
    },
  },
  {
    name: 'many records: a list with an invalid record creates none, and every violation has its place',
    async run(api) {
      invalid(await createAll(api, 'keeper', [{ name: 'Ann' }, { name: 'x' }, { age: 3 }, { nme: 'Bob' }]), {
        '1.name': ['minLength'],
        '2.age': ['min'],
        '2.name': ['required'],
        '3.nme': ['unknown'],
        '3.name': ['required'],
      })
      refused(await api.request('POST', '/specimen', { body: [{ label: 'a' }, 5] }), 'E_BAD_BODY')
      assert.deepEqual(list(await api.request('GET', '/keeper')), [])
      assert.deepEqual(await labels(api), [])
    },
  },
  {
    name: 'many records: a list with a value that is taken creates none',
    async run(api) {
      await create(api, 'keeper', { name: 'Ann', email: 'a@x.org' })
      const answer = await createAll(api, 'keeper', [{ name: 'Bob' }, { name: 'Cid', email: 'a@x.org' }])
      refused(answer, 'E_INVALID_ATTRIBUTES', { model: 'keeper' })
      assert.deepEqual(column(await api.request('GET', '/keeper'), 'name'), ['Ann'])
    },
  },
  {
    name: 'many records: a list may contain nested records, and embeds them in its answer',
    async run(api) {
      const answer = await createAll(api, 'keeper', [
        { name: 'Ann', animals: [{ name: 'Rex' }, { name: 'Tom' }] },
        { name: 'Bob' },
        { name: 'Cid', animals: [{ name: 'Ivy' }] },
      ])
      const names = (answer.body as unknown as { animals: JsonObject[] }[]).map(({ animals }) =>
        animals.map(({ name }) => name),
      )
      assert.deepEqual(names, [['Rex', 'Tom'], [], ['Ivy']])
    },
  },
  {
    name: 'many records: count=true answers the number',
    async run(api) {
      const created = await api.request('POST', '/specimen?count=true', {
        body: [{ legs: 1 }, { legs: 1 }, { legs: 2 }],
      })
      assert.deepEqual([created.status, created.body], [201, { count: 3 }])
      const updated = await api.request('PATCH', withLegs('/specimen', 1, { count: true }), { body: { label: 'x' } })
      assert.deepEqual([updated.status, updated.body], [200, { count: 2 }])
      const destroyed = await api.request('DELETE', withLegs('/specimen', 1, { count: true }))
      assert.deepEqual([destroyed.status, destroyed.body], [200, { count: 2 }])
      assert.equal((await labels(api)).length, 1)
    },
  },
  {
    name: 'many records: PATCH and PUT with where give the same values to all that match, and answer them',
    async run(api) {
      await createAll(api, 'specimen', [{ legs: 1 }, { legs: 2 }, { legs: 1 }])
      for (const method of ['PATCH', 'PUT']) {
        const answer = list(await api.request(method, withLegs('/specimen', 1), { body: { label: method } }))
        assert.deepEqual(
          answer.map(({ label }) => label),
          [method, method],
        )
        assert.deepEqual(await labels(api), [method, null, method])
      }
      assert.deepEqual(list(await api.request('PATCH', withLegs('/specimen', 9), { body: { label: 'x' } })), [])
      const wrong = await api.request('PATCH', withLegs('/specimen', 9), { body: { legs: 'x', nosuch: 1 } })
      invalid(wrong, { legs: ['type'], nosuch: ['unknown'] })
    },
  },
  {
    name: 'many records: where in the query decides, also when the body has an id',
    async run(api) {
      const [a, b] = [await create(api, 'specimen', { legs: 1 }), await create(api, 'specimen', { legs: 2 })]
      const answer = await api.request('PATCH', withLegs('/specimen', 1), { body: { id: b.id as number, label: 'x' } })
      assert.deepEqual(column(answer, 'id'), [a.id])
    },
  },
  {
    name: 'many records: DELETE with where destroys all that match, and what refers to them is cleared',
    async run(api) {
      const ann = await create(api, 'keeper', {
        name: 'Ann',
        age: 20,
        animals: [{ name: 'Rex' }],
        teams: [{ title: 'T' }],
      })
      await create(api, 'keeper', { name: 'Bob', age: 50 })
      const answer = await api.request(
        'DELETE',
        address('/keeper', { where: { age: { '<': 30 } }, populate: 'animals' }),
      )
      assert.deepEqual(
        list(answer).map(({ id, animals }) => [id, (animals as JsonObject[]).length]),
        [[ann.id, 1]],
      )
      assert.deepEqual(column(await api.request('GET', '/animal?populate=false'), 'keeper'), [null])
      assert.deepEqual(list(await api.request('GET', '/team'))[0]?.members, [])
      assert.deepEqual(column(await api.request('GET', '/keeper'), 'name'), ['Bob'])
    },
  },
  {
    name: 'many records: a condition on an association selects as in a find',
    async run(api) {
      await createAll(api, 'animal', [
        { name: 'Rex', keeper: { name: 'Ann' } },
        { name: 'Tom', keeper: { name: 'Bob' } },
      ])
      const path = address('/animal', { where: { keeper: { name: 'Ann' } } })
      assert.deepEqual(column(await api.request('PATCH', path, { body: { weight: 3 } }), 'name'), ['Rex'])
      assert.deepEqual(column(await api.request('DELETE', path), 'name'), ['Rex'])
      assert.deepEqual(column(await api.request('GET', '/animal'), 'name'), ['Tom'])
    },
  },
  {
    name: 'many records: a write is refused whose condition is missing, invalid or empty in a part',
    async run(api) {
      await createAll(api, 'specimen', [{ label: 'a' }, { label: 'b' }])
      for (const method of ['PATCH', 'DELETE']) {
        refused(await api.request(method, '/specimen', { body: { label: 'x' } }), 'E_BAD_REQUEST')
        const inBody = await api.request(method, '/specimen', { body: { where: { label: 'a' } } })
        assert.match(refused(inBody, 'E_BAD_REQUEST').detail as string, /"where" belongs in the query string/)
        for (const where of selectingAll)
          refused(await api.request(method, address('/specimen', { where })), 'E_BAD_REQUEST')
        refused(await api.request(method, '/specimen?where='), 'E_BAD_CRITERIA')
        refused(await api.request(method, address('/specimen', { where: { lable: 'a' } })), 'E_BAD_CRITERIA')
        refused(
          await api.request(method, address('/specimen', { where: { label: 'a' }, label: 'b' })),
          'E_BAD_CRITERIA',
        )
        refused(await api.request(method, address('/specimen', { where: { label: 'a' }, limit: 1 })), 'E_BAD_CRITERIA')
      }
      assert.deepEqual(await labels(api), ['a', 'b'])
      const everything = address('/specimen', { where: { id: { '!=': null } } })
      assert.equal(list(await api.request('DELETE', everything)).length, 2)
    },
  },
  {
    name: 'many records: a write that is refused for one record changes none',
    async run(api) {
      await createAll(api, 'keeper', [
        { name: 'Ann', age: 20 },
        { name: 'Bob', age: 20 },
      ])
      const path = address('/keeper', { where: { age: 20 } })
      refused(await api.request('PATCH', path, { body: { email: 'same@x.org' } }), 'E_INVALID_ATTRIBUTES')
      refused(await api.request('PATCH', path, { body: { age: 5 } }), 'E_INVALID_ATTRIBUTES')
      refused(await api.request('PATCH', path, { body: { animals: [1] } }), 'E_BAD_REQUEST')
      refused(await api.request('PATCH', path, { body: { mentor: 99_999 } }), 'E_INVALID_ATTRIBUTES')
      const [rex] = [await create(api, 'animal', { name: 'Rex' })]
      await create(api, 'feeding', { grams: 1, animal: rex.id as number })
      await create(api, 'animal', { name: 'Tom' })
      refused(await api.request('DELETE', address('/animal', { where: { kind: 'cat' } })), 'E_CONFLICT')
      assert.equal(list(await api.request('GET', '/animal')).length, 2)
      assert.deepEqual(column(await api.request('GET', '/keeper'), 'email'), [null, null])
    },
  },
  {
    name: 'many records: more than maxAffected are refused before anything changes',
    settings: { limits: { maxAffected: 2 } },
    async run(api) {
      refused(await createAll(api, 'specimen', [{}, {}, {}]), 'E_BAD_REQUEST', { limit: 'maxAffected' })
      for (const label of ['a', 'b', 'c']) await create(api, 'specimen', { label, legs: 1 })
      refused(await api.request('PATCH', withLegs('/specimen', 1), { body: { label: 'x' } }), 'E_CONFLICT')
      refused(await api.request('DELETE', withLegs('/specimen', 1)), 'E_CONFLICT', { limit: 'maxAffected' })
      assert.deepEqual(await labels(api), ['a', 'b', 'c'])
    },
  },
  {
    name: 'many records: If-Match names the versions of all that match',
    async run(api) {
      const [a, b] = [await create(api, 'specimen', { legs: 1 }), await create(api, 'specimen', { legs: 1 })]
      const tags = [a, b].map(async ({ id }) => (await api.request('GET', `/specimen/${id}`)).header('etag') ?? '')
      const [first, second] = await Promise.all(tags)
      const change = (match: string, label: string) =>
        api.request('PATCH', withLegs('/specimen', 1), { body: { label }, headers: { 'if-match': match } })
      refused(await change(`${first}`, 'x'), 'E_PRECONDITION_FAILED')
      assert.deepEqual(await labels(api), [null, null])
      assert.equal((await change(`${first}, ${second}`, 'y')).status, 200)
      assert.deepEqual(await labels(api), ['y', 'y'])
    },
  },
  {
    name: 'upsert: creates with 201, updates with 200, and keeps what is not given',
    async run(api) {
      const put = (body: JsonObject) => api.request('POST', '/keeper?upsert=email', { body })
      const created = record(await put({ email: 'a@x.org', name: 'Ann', age: 20 }), 201)
      const updated = record(await put({ email: 'a@x.org', age: 21 }))
      assert.deepEqual([updated.id, updated.name, updated.age], [created.id, 'Ann', 21])
      refused(await put({ email: 'b@x.org' }), 'E_INVALID_ATTRIBUTES')
      invalid(await put({ email: 'a@x.org', age: 3, nosuch: 1 }), { age: ['min'], nosuch: ['unknown'] })
      invalid(await put({ email: 'b@x.org', nosuch: 1 }), { name: ['required'], nosuch: ['unknown'] })
      assert.equal(list(await api.request('GET', '/keeper')).length, 1)
    },
  },
  {
    name: 'upsert: by the primary key, and with nested records',
    async run(api) {
      const put = (title: string, animals: Json) =>
        api.request('POST', '/enclosure?upsert=code', { body: { code: 'c1', title, animals } })
      record(await put('first', [{ name: 'Rex' }]), 201)
      const updated = record(await put('second', [{ name: 'Tom' }]))
      assert.deepEqual(
        (updated.animals as JsonObject[]).map(({ name }) => name),
        ['Tom'],
      )
      assert.equal(updated.title, 'second')
    },
  },
  {
    name: 'upsert: needs a unique attribute and its value',
    async run(api) {
      const put = (attribute: string, body: JsonObject) => api.request('POST', `/keeper?upsert=${attribute}`, { body })
      for (const attribute of ['name', 'nothing', '', 'pin', 'constructor', '__proto__'])
        refused(await put(attribute, { name: 'Ann', email: 'a@x.org' }), 'E_BAD_REQUEST')
      refused(await put('email', { name: 'Ann' }), 'E_BAD_REQUEST')
      refused(await put('email', { name: 'Ann', email: null }), 'E_BAD_REQUEST')
      refused(
        await api.request('POST', '/keeper?upsert=email', { body: [{ name: 'Ann', email: 'a@x.org' }] }),
        'E_BAD_BODY',
      )
      assert.deepEqual(list(await api.request('GET', '/keeper')), [])
    },
  },
  {
    name: 'upsert: another unique attribute that is taken refuses it',
    async run(api) {
      await create(api, 'team', { title: 'Night' })
      const day = await create(api, 'team', { title: 'Day' })
      const answer = await api.request('POST', '/team?upsert=id', { body: { id: day.id as number, title: 'Night' } })
      refused(answer, 'E_INVALID_ATTRIBUTES')
      refused(
        await api.request('POST', '/team?upsert=id', { body: { id: 77_777, title: 'Night' } }),
        'E_INVALID_ATTRIBUTES',
      )
    },
  },
  {
    name: 'upsert: concurrent ones with one value make one record',
    async run(api) {
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, age) =>
          api.request('POST', '/keeper?upsert=email', { body: { email: 'a@x.org', name: 'Ann', age: 20 + age } }),
        ),
      )
      const statuses = answers.map(({ status }) => status)
      assert.equal(statuses.filter((status) => status === 201).length, 1, String(statuses))
      assert.equal(statuses.filter((status) => status === 200).length, 11, String(statuses))
      assert.equal(list(await api.request('GET', '/keeper')).length, 1)
    },
  },
]
