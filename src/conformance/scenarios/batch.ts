import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { address, column, create, list, record, refused } from '../expect.ts'
import type { Answer, Api, Scenario } from '../scenario.ts'

interface Item {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Json
}

const send = (api: Api, items: readonly Json[], query = ''): Promise<Answer> =>
  api.request('POST', `/batch${query}`, { body: items })

const post = (url: string, body: Json): JsonObject => ({ method: 'POST', url, body })
const get = (url: string): JsonObject => ({ method: 'GET', url })

function itemsOf(answer: Answer, status = 200): readonly Item[] {
  assert.equal(answer.status, status, answer.text)
  assert.ok(Array.isArray(answer.body), answer.text)
  return answer.body as unknown as readonly Item[]
}

const statuses = (answer: Answer, status = 200): readonly number[] => itemsOf(answer, status).map((item) => item.status)
const codes = (items: readonly Item[]): readonly unknown[] => items.map(({ body }) => (body as JsonObject).code)
const names = async (api: Api, model: string): Promise<readonly unknown[]> =>
  column(await api.request('GET', `/${model}?populate=false`), 'name')

/** Requests that are sent together. */
export const batch: readonly Scenario[] = [
  {
    name: 'batch: an address without a slash is relative to that of the batch',
    settings: { prefix: '/api' },
    async run(api) {
      const requests = [
        post('keeper?populate=false', { name: 'Ann' }),
        get('keeper/$0.id?select=name'),
        get('/api/keeper'),
      ]
      for (const path of ['/api/batch', '/api/batch/', '/api/batch?atomic=false'])
        assert.deepEqual(statuses(await api.request('POST', path, { body: requests })), [201, 200, 200], path)
      for (const url of ['', '?a=1', '#a', 'http://localhost/api/keeper', 'javascript:keeper', '.', '../api/keeper'])
        refused(await api.request('POST', '/api/batch', { body: [get(url)] }), 'E_BAD_BODY')
      refused(await api.request('POST', '/api/batch', { body: [get('batch')] }), 'E_BAD_BODY')
    },
  },
  {
    name: 'batch: requests are answered in order, each with its status, headers and body',
    async run(api) {
      const answer = await send(api, [
        post('/keeper?populate=false', { name: 'Ann' }),
        get('/keeper?count=true&populate=false'),
        { method: 'patch', url: '/keeper/$0.id?populate=false', body: { age: 30 } },
        { method: 'DELETE', url: '/keeper/$0.id' },
        get('/keeper'),
      ])
      const [created, found, updated, destroyed, empty] = itemsOf(answer) as readonly [Item, Item, Item, Item, Item]
      assert.deepEqual(statuses(answer), [201, 200, 200, 200, 200])
      assert.deepEqual(found.body, [created.body])
      assert.equal(found.headers['X-Total-Count'], '1')
      assert.match(created.headers.ETag ?? '', /^"/)
      assert.equal((updated.body as JsonObject).age, 30)
      assert.equal((destroyed.body as JsonObject).age, 30)
      assert.deepEqual(empty.body, [])
      assert.deepEqual(itemsOf(await send(api, [])), [])
    },
  },
  {
    name: 'batch: a reference names a value of an earlier answer, wherever it stands',
    async run(api) {
      const answer = await send(api, [
        post('/keeper', { name: 'Ann', animals: [{ name: 'Rex' }, { name: 'Tom' }] }),
        post('/animal', { name: 'Ivy', keeper: { $ref: '0.id' } }),
        post('/keeper', {
          name: 'Bob',
          mentor: { $ref: '0.id' },
          animals: [{ $ref: '0.animals.1.id' }, { $ref: '1.id' }],
        }),
        post('/specimen', {
          label: { $ref: '0.name' },
          notes: { whole: { $ref: '2.mentor' }, list: [{ $ref: '1.name' }] },
        }),
        { method: 'PATCH', url: '/animal', body: { id: { $ref: '1.id' }, name: { $ref: '2.name' } } },
        get('/animal?populate=false&where={"name":"$2.name"}'),
        { method: 'PUT', url: '/keeper/$2.id/animals', body: [{ $ref: '4.id' }] },
        { method: 'POST', url: '/keeper/$0.id/animals/$0.animals.1.id' },
      ])
      assert.deepEqual(statuses(answer), [201, 201, 201, 201, 200, 200, 200, 200], answer.text)
      const bodies = itemsOf(answer).map(({ body }) => body as JsonObject)
      const [ann, , , specimen, , found] = bodies as [JsonObject, JsonObject, JsonObject, JsonObject, JsonObject, Json]
      assert.equal(specimen.label, 'Ann')
      const { whole, list: listed } = specimen.notes as { whole: JsonObject; list: Json[] }
      assert.deepEqual([whole.id, listed], [ann.id, ['Ivy']])
      assert.deepEqual(
        (found as JsonObject[]).map(({ name }) => name),
        ['Bob'],
      )
      const keepers = list(await api.request('GET', '/keeper'))
      assert.deepEqual(
        keepers.map(({ animals }) => (animals as JsonObject[]).map(({ name }) => name)),
        [['Rex', 'Tom'], ['Bob']],
      )
    },
  },
  {
    name: 'batch: a new member belongs to the record that it is created in, whatever its body refers to',
    async run(api) {
      await create(api, 'keeper', { id: 1, name: 'Ann' })
      const answer = await send(api, [
        post('/keeper', { name: 'Bob' }),
        post('/keeper/1/animals', { name: 'Rex', keeper: { $ref: '0.id' } }),
        post('/keeper', { name: 'Cid', animals: [{ name: 'Tom', keeper: { $ref: '0.id' } }] }),
      ])
      assert.deepEqual(statuses(answer), [201, 200, 201], answer.text)
      const animals = list(await api.request('GET', '/animal'))
      assert.deepEqual(
        animals.map(({ name, keeper }) => [name, (keeper as JsonObject).name]),
        [
          ['Rex', 'Ann'],
          ['Tom', 'Cid'],
        ],
      )
    },
  },
  {
    name: 'batch: references to nothing, to later requests and to names of prototypes are refused',
    async run(api) {
      const first = post('/keeper', { name: 'Ann' })
      for (const ref of ['0.nothing', '0.constructor', '0.__proto__', '0.name.length', '0.toString', '0.id.x']) {
        const items = itemsOf(await send(api, [first, post('/specimen', { label: { $ref: ref } })]), 400)
        assert.deepEqual(codes(items), ['E_NOT_EXECUTED', 'E_BAD_REQUEST'], ref)
      }
      refused(await send(api, [post('/specimen', { label: { $ref: '0.id' } })]), 'E_BAD_BODY')
      refused(await send(api, [first, post('/specimen', { notes: [{ $ref: '2' }] }), first]), 'E_BAD_BODY')
      refused(await send(api, [first, get('/keeper/$1.id')]), 'E_BAD_BODY')
      assert.deepEqual(itemsOf(await send(api, [first, get('/keeper/$0.nothing')]), 400).length, 2)
      assert.deepEqual(await names(api, 'keeper'), [])
      const data = { a: { $ref: '#/definitions/pet' }, b: { $ref: '0.id', more: 1 }, c: { $ref: 5 } }
      const [kept] = itemsOf(await send(api, [post('/specimen', { notes: data })])) as readonly [Item]
      assert.deepEqual((kept.body as JsonObject).notes, data)
    },
  },
  {
    name: 'batch: when one request fails, nothing of the batch happens, and the answer says which it was',
    async run(api) {
      await create(api, 'keeper', { name: 'Old', email: 'a@x.org' })
      const cases: readonly (readonly [item: JsonObject, status: number, code: string])[] = [
        [post('/keeper', { name: 'x' }), 400, 'E_INVALID_ATTRIBUTES'],
        [post('/keeper', { name: 'Bob', email: 'a@x.org' }), 400, 'E_INVALID_ATTRIBUTES'],
        [post('/keeper', { name: 'Bob', mentor: 99_999 }), 400, 'E_INVALID_ATTRIBUTES'],
        [get('/keeper/99999'), 404, 'E_NO_SUCH_RECORD'],
        [{ method: 'PATCH', url: '/keeper/99999', body: { name: 'Bob' } }, 404, 'E_NO_SUCH_RECORD'],
        [get('/nothing'), 404, 'E_NO_SUCH_ROUTE'],
        [get('/keeper?where={"nothing":1}'), 400, 'E_BAD_CRITERIA'],
        [{ method: 'PUT', url: '/keeper/1/nothing', body: [] }, 404, 'E_NO_SUCH_ROUTE'],
      ]
      for (const [item, status, code] of cases) {
        const answer = await send(api, [post('/keeper', { name: 'Ann' }), item, post('/keeper', { name: 'Cid' })])
        const items = itemsOf(answer, status)
        assert.deepEqual(codes(items), ['E_NOT_EXECUTED', code, 'E_NOT_EXECUTED'], answer.text)
        assert.deepEqual(
          items.map((one) => one.status),
          [424, status, 424],
        )
        assert.match(items[1]?.headers['Content-Type'] ?? '', /^application\/problem\+json/)
      }
      assert.deepEqual(await names(api, 'keeper'), ['Old'])
    },
  },
  {
    name: 'batch: later requests see what earlier ones wrote, also under keys that were not there before',
    async run(api) {
      const answer = await send(api, [
        post('/enclosure', { code: 'c1', title: 'first' }),
        { method: 'PATCH', url: '/enclosure/c1', body: { title: 'second' } },
        post('/enclosure?upsert=code', { code: 'c1', title: 'third' }),
        post('/enclosure?upsert=code', { code: 'c2', title: 'other' }),
        { method: 'PATCH', url: address('/enclosure', { where: { title: 'third' } }), body: { title: 'fourth' } },
        post('/animal', [
          { name: 'Rex', enclosure: 'c1' },
          { name: 'Tom', enclosure: 'c2' },
        ]),
        get('/enclosure?sort=code&populate=false'),
        { method: 'DELETE', url: address('/animal', { where: { enclosure: 'c1' } }) },
      ])
      assert.deepEqual(statuses(answer), [201, 200, 200, 201, 200, 201, 200, 200], answer.text)
      const found = itemsOf(answer)[6]?.body as readonly JsonObject[]
      assert.deepEqual(
        found.map(({ title }) => title),
        ['fourth', 'other'],
      )
      assert.deepEqual(await names(api, 'animal'), ['Tom'])
    },
  },
  {
    name: 'batch: atomic=false executes each request by itself',
    async run(api) {
      const answer = await send(
        api,
        [
          post('/keeper', { name: 'Ann' }),
          post('/keeper', { name: 'x' }),
          post('/animal', { name: 'Rex', keeper: { $ref: '0.id' } }),
          post('/animal', { name: 'Tom', keeper: { $ref: '1.id' } }),
          get('/keeper/$0.id?populate=false'),
          get('/nothing'),
        ],
        '?atomic=false',
      )
      assert.deepEqual(statuses(answer), [201, 400, 201, 424, 200, 404])
      assert.deepEqual(await names(api, 'keeper'), ['Ann'])
      assert.deepEqual(await names(api, 'animal'), ['Rex'])
      refused(await send(api, [], '?atomic=maybe'), 'E_BAD_REQUEST')
      refused(await send(api, [], '?atomc=false'), 'E_BAD_REQUEST')
    },
  },
  {
    name: 'batch: If-Match of a request holds within the transaction',
    async run(api) {
      const { id } = await create(api, 'specimen', { label: 'a' })
      const tag = (await api.request('GET', `/specimen/${id}`)).header('etag') ?? ''
      const change = (label: string): JsonObject => ({
        method: 'PATCH',
        url: `/specimen/${id}`,
        headers: { 'If-Match': tag },
        body: { label },
      })
      assert.deepEqual(statuses(await send(api, [change('b'), change('c')]), 412), [424, 412])
      assert.equal(record(await api.request('GET', `/specimen/${id}`)).label, 'a')
      assert.deepEqual(statuses(await send(api, [change('b')])), [200])
    },
  },
  {
    name: 'batch: what is no list of requests is refused before any is executed',
    settings: { limits: { maxBatch: 3, maxUrlBytes: 200 } },
    async run(api) {
      const ok = post('/keeper', { name: 'Ann' })
      const wrong: readonly Json[] = [
        5,
        null,
        [],
        {},
        { method: 'POST' },
        { method: 'HEAD', url: '/keeper' },
        { method: 'OPTIONS', url: '/keeper' },
        { method: 'GET', url: 'http:keeper' },
        { method: 'GET', url: '/keeper', data: {} },
        { method: 'GET', url: '/keeper', headers: { cookie: 'a=b' } },
        { method: 'GET', url: '/keeper', headers: { 'If-Match': 5 } },
        { method: 'GET', url: '/keeper', headers: { 'If-None-Match': '"a",'.repeat(5_000) } },
        { method: 'GET', url: '/keeper', headers: [] },
        post('/batch', []),
        post('/batch?atomic=false', []),
        post('/batch/', []),
      ]
      for (const item of wrong) refused(await send(api, [ok, item]), 'E_BAD_BODY')
      refused(await send(api, [ok, get(`/keeper/${'x'.repeat(200)}`)]), 'E_URL_TOO_LONG')
      refused(await send(api, [ok, ok, ok, ok]), 'E_BAD_REQUEST', { limit: 'maxBatch' })
      refused(await api.request('POST', '/batch', { body: { requests: [] } }), 'E_BAD_BODY')
      refused(await api.request('GET', '/batch'), 'E_METHOD_NOT_ALLOWED')
      assert.deepEqual(await names(api, 'keeper'), [])
    },
  },
  {
    name: 'batch: the answers together are bounded, and a batch that exceeds this has no effect',
    settings: { limits: { maxAnswerBytes: 2_000 } },
    async run(api) {
      await create(api, 'specimen', { label: 'x'.repeat(300) })
      const reads = Array.from({ length: 6 }, () => get('/specimen'))
      const answer = await send(api, [post('/keeper', { name: 'Ann' }), ...reads])
      assert.equal(answer.status, 400)
      assert.deepEqual(await names(api, 'keeper'), [])
      const each = itemsOf(await send(api, reads, '?atomic=false'))
      assert.equal(each[0]?.status, 200)
      assert.notEqual(each[5]?.status, 200)
    },
  },
  {
    name: 'batch: the rows that all requests change together are bounded',
    settings: { limits: { maxAffected: 3 } },
    async run(api) {
      const answer = await send(
        api,
        Array.from({ length: 4 }, () => post('/specimen', {})),
      )
      assert.deepEqual(statuses(answer, 409), [424, 424, 424, 409])
      assert.deepEqual(list(await api.request('GET', '/specimen')), [])
    },
  },
  {
    name: 'batch: shortcuts may be among its requests',
    async run(api) {
      const answer = await send(api, [
        get('/keeper/create?name=Ann'),
        get('/keeper/update/$0.id?name=Bob'),
        get('/keeper/find'),
      ])
      assert.deepEqual(statuses(answer), [201, 200, 200])
      assert.deepEqual(await names(api, 'keeper'), ['Bob'])
    },
  },
  {
    name: 'batch: its route has the prefix of the routes',
    settings: { prefix: '/api' },
    async run(api) {
      const items = [post('/api/keeper', { name: 'Ann' })]
      for (const path of ['/api/batch', '/API/Batch/'])
        assert.deepEqual(statuses(await api.request('POST', path, { body: items })), [201], path)
      refused(await send(api, items), 'E_NO_SUCH_ROUTE')
    },
  },
]
