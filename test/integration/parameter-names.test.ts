import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createService, type JsonObject } from '../../src/index.ts'

/* Attributes that have the names of parameters. */

const text = { type: 'string' } as const
const number = { type: 'number' } as const
const service = await createService({
  database: 'sqlite::memory:',
  models: {
    shelf: { attributes: { name: text, items: { collection: 'item', via: 'shelf' } } },
    item: {
      attributes: {
        ...{ name: text, count: number, limit: number, skip: number, sort: text, where: text, cursor: text },
        ...{ select: text, omit: text, populate: text, shelf: { model: 'shelf' } },
      },
    },
    plain: { attributes: { name: text } },
    closed: { attributes: { name: text, count: { type: 'number', hidden: true } } },
  },
})
after(() => service.close())

async function request(method: string, path: string, values?: JsonObject) {
  const headers = { 'Content-Type': 'application/json' }
  const body = values === undefined ? null : JSON.stringify(values)
  const response = await service.fetch(new Request(`http://localhost${path}`, { method, headers, body }))
  const answer = await response.json()
  return { status: response.status, headers: response.headers, answer: answer as JsonObject & JsonObject[] }
}

const given = { count: 5, limit: 7, skip: 2, sort: 's', where: 'w', cursor: 'c', select: 'e' }
const query = new URLSearchParams(Object.entries(given).map(([name, value]) => [name, `${value}`]))

test('they are values in the query string of a write of one record, as in its body', async () => {
  const { answer } = await request('GET', `/item/create?name=a&${query}`)
  assert.deepEqual({ ...answer, ...given }, answer)
  const updated = await request('GET', `/item/update/${answer.id}?count=6&limit=8&select=name`)
  const { count, limit, sort, select } = updated.answer
  assert.deepEqual([count, limit, sort, select], [6, 8, 's', 'name'])
  const put = await request('PUT', `/item/${answer.id}?count=7&limit=9`, { limit: 10 })
  assert.deepEqual([put.answer.count, put.answer.limit], [7, 10])
  const shelf = await request('POST', '/shelf', { name: 'top' })
  await request('POST', `/shelf/${shelf.answer.id}/items?count=11&sort=x`, { name: 'b' })
  const [member] = (await request('GET', `/item?name=b`)).answer
  assert.deepEqual([member?.count, member?.sort], [11, 'x'])
})

test('what decides about the answer stays a parameter', async () => {
  const { answer } = await request('GET', '/item/create?name=a&populate=false')
  assert.deepEqual([answer.populate, Object.hasOwn(answer, 'shelf')], [null, true])
})

test('names of parameters have no meaning in the write of a model without such attributes', async () => {
  assert.equal((await request('GET', `/plain/create?name=a&${query}`)).status, 201)
})

test('"count" is a filter unless it is true or false', async () => {
  for (const count of [20, 20, 21]) await request('POST', '/item', { name: 'counted', count })
  const find = (path: string) => request('GET', path)
  assert.equal((await find('/item?count=20')).answer.length, 2)
  assert.equal((await find('/item?count=20')).answer.length, 2, 'and again, from memory')
  assert.equal((await find('/item?count=21&name=counted')).answer.length, 1)
  assert.equal((await find('/item?count[>]=19&sort=count%20DESC')).answer[0]?.count, 21)
  assert.equal((await find('/item?count=20&count=21')).answer.length, 3)
  const counted = await find('/item?name=counted&count=true')
  assert.deepEqual([counted.answer.length, counted.headers.get('x-total-count')], [3, '3'])
  const refused = await find('/plain?count=20')
  assert.equal(refused.status, 400)
  assert.deepEqual((await find('/closed?count=20')).answer, refused.answer, 'a hidden attribute is unknown')
})

test('the next page has the same filter, also one that was sent in a body', async () => {
  const asked = { method: 'GET', path: '/item', headers: {}, site: 'none' } as const
  for (const sent of [{ query: 'count=20&limit=1' }, { query: '', body: { count: 20, limit: 1, name: 'counted' } }]) {
    const first = await service.handle({ ...asked, ...sent })
    const link = /<([^>]*)>/.exec(`${first.headers.Link}`)?.[1] as string
    const next = await request('GET', link)
    const counts = next.answer.map(({ count }) => count)
    assert.deepEqual([counts, next.headers.get('link')], [[20], null])
  }
})

test('a stream of events has the filter', async () => {
  const headers = { Accept: 'text/event-stream' }
  const status = async (path: string) => {
    const response = await service.fetch(new Request(`http://localhost${path}`, { headers }))
    await response.body?.cancel()
    return response.status
  }
  assert.deepEqual([await status('/item?count=20'), await status('/item?count=true')], [200, 400])
})
