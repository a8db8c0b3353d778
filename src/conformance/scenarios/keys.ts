import assert from 'node:assert/strict'
import { address, column, create, invalid, list, record, refused, stored } from '../expect.ts'
import type { Scenario } from '../scenario.ts'

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Keys of each kind: counted, of 64 bits, text, UUID; given by us and chosen by clients. */
export const keys: readonly Scenario[] = [
  {
    name: 'keys: what the database counts goes up',
    async run(api) {
      const ids = [(await create(api, 'specimen', {})).id, (await create(api, 'specimen', {})).id] as const
      assert.ok(Number.isInteger(ids[0]) && Number(ids[1]) > Number(ids[0]))
    },
  },
  {
    name: 'keys: a counted key of 64 bits is text, counts up, and is sorted and compared as a number',
    async run(api) {
      const seats = ['1', '2', '3']
      const ids: string[] = []
      for (const seat of seats) ids.push((await create(api, 'ticket', { seat })).id as string)
      for (const id of ids) assert.match(id, /^\d+$/)
      assert.ok(ids.every((id, index) => index === 0 || BigInt(id) > BigInt(ids[index - 1] as string)))
      for (const id of ids) assert.equal((await stored(api, 'ticket', id)).id, id)
      const after = address('/ticket', { where: { id: { '>': ids[0] as string } }, sort: 'id DESC', populate: 'false' })
      assert.deepEqual(column(await api.request('GET', after), 'seat'), ['3', '2'])
      const updated = await api.request('PATCH', '/ticket?populate=false', {
        body: { id: ids[0] as string, seat: '9' },
      })
      assert.equal(record(updated).seat, '9')
      assert.equal(record(await api.request('DELETE', `/ticket/${ids[0]}?populate=false`)).id, ids[0])
    },
  },
  {
    name: 'keys: a key of 64 bits may be one that no number of JavaScript is',
    async run(api) {
      for (const id of ['9007199254740993', '9007199254740995']) {
        assert.equal((await create(api, 'ticket', { id, seat: id })).id, id)
        assert.equal((await stored(api, 'ticket', id)).seat, id)
      }
      const found = await api.request('GET', '/ticket?populate=false&id=9007199254740993')
      assert.deepEqual(column(found, 'id'), ['9007199254740993'])
      record(await api.request('DELETE', '/ticket/9007199254740993'))
      assert.deepEqual(column(await api.request('GET', '/ticket?populate=false'), 'id'), ['9007199254740995'])
    },
  },
  {
    name: 'keys: a UUID is made when none is given, each later one greater',
    async run(api) {
      const animal = (await create(api, 'animal', { name: 'Leo' })).id as number
      const ids: string[] = []
      for (let grams = 0; grams < 5; grams++) ids.push((await create(api, 'feeding', { grams, animal })).id as string)
      for (const id of ids) assert.match(id, uuidForm)
      assert.deepEqual([...ids].sort(), ids)
      assert.deepEqual(column(await api.request('GET', '/feeding?populate=false'), 'grams'), [0, 1, 2, 3, 4])
    },
  },
  {
    name: 'keys: a UUID may be chosen, and is the same in either case',
    async run(api) {
      const animal = (await create(api, 'animal', { name: 'Leo' })).id as number
      const id = 'ABCDEFAB-CDEF-4BCD-8FAB-CDEFABCDEFAB'
      assert.equal((await create(api, 'feeding', { id, grams: 1, animal })).id, id.toLowerCase())
      for (const spelling of [id, id.toLowerCase()]) assert.equal((await stored(api, 'feeding', spelling)).grams, 1)
      invalid(await api.request('POST', '/feeding', { body: { id: id.toLowerCase(), grams: 2, animal } }), {
        id: ['unique'],
      })
      refused(await api.request('GET', '/feeding/abc'), 'E_BAD_REQUEST', { model: 'feeding' })
    },
  },
  {
    name: 'keys: text must be given, is not empty, and has rules like any other value',
    async run(api) {
      for (const body of [{}, { code: '' }, { code: null }]) {
        invalid(await api.request('POST', '/enclosure', { body: body as never }), { code: ['required'] })
      }
      invalid(await api.request('POST', '/enclosure', { body: { code: 'x'.repeat(41) } }), { code: ['maxLength'] })
      invalid(await api.request('POST', '/enclosure', { body: { id: 'A' } }), { code: ['required'] })
      await create(api, 'enclosure', { code: 'A' })
      await create(api, 'enclosure', { code: 'a' })
      assert.deepEqual(column(await api.request('GET', '/enclosure?populate=false'), 'code'), ['A', 'a'])
    },
  },
  {
    name: 'keys: a client may choose a number, and counting goes on behind it',
    async run(api) {
      const first = (await create(api, 'specimen', {})).id as number
      const chosen = first + 10
      assert.equal((await create(api, 'specimen', { id: chosen, label: 'chosen' })).id, chosen)
      assert.equal((await create(api, 'specimen', { id: String(chosen + 1) })).id, chosen + 1)
      const ids = [first, chosen, chosen + 1]
      for (let count = 0; count < 12; count++) {
        const { id } = await create(api, 'specimen', {})
        assert.ok(!ids.includes(id as number), 'an id is given once')
        ids.push(id as number)
      }
      assert.equal((await stored(api, 'specimen', chosen)).label, 'chosen')
    },
  },
  {
    name: 'keys: one that is taken is refused, and the record that has it stays as it is',
    async run(api) {
      const made = await create(api, 'specimen', { label: 'a' })
      invalid(await api.request('POST', '/specimen', { body: { id: made.id as number, label: 'b' } }), {
        id: ['unique'],
      })
      const cage = await create(api, 'enclosure', { code: 'A', title: 'a' })
      invalid(await api.request('POST', '/enclosure', { body: { code: 'A', title: 'b' } }), { code: ['unique'] })
      assert.deepEqual(await stored(api, 'specimen', made.id), made)
      assert.deepEqual(await stored(api, 'enclosure', 'A'), cage)
    },
  },
  {
    name: 'keys: one that cannot be is refused',
    async run(api) {
      for (const id of ['abc', 1.5, {}, [], [1], 9007199254740992, '']) {
        const answer = await api.request('POST', '/specimen', { body: { id } as never })
        assert.equal(answer.status, 400, JSON.stringify(id))
        assert.deepEqual((answer.body as { attrNames?: unknown }).attrNames, ['id'])
      }
      assert.deepEqual(list(await api.request('GET', '/specimen')), [])
    },
  },
  {
    name: 'keys: none is ever used again',
    async run(api) {
      const used = new Set<unknown>()
      for (let round = 0; round < 4; round++) {
        const { id } = await create(api, 'specimen', {})
        assert.ok(!used.has(id))
        used.add(id)
        record(await api.request('DELETE', `/specimen/${id}`))
      }
      for (let round = 0; round < 3; round++) {
        const { id } = await create(api, 'ticket', {})
        assert.ok(!used.has(id))
        used.add(id)
        record(await api.request('DELETE', `/ticket/${id}`))
      }
    },
  },
  {
    name: 'keys: writes at once each get their own',
    async run(api) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, legs) => api.request('POST', '/specimen', { body: { legs } })),
      )
      const ids = answers.map((answer) => record(answer, 201).id)
      assert.equal(new Set(ids).size, 20)
      for (const answer of answers) assert.deepEqual(await stored(api, 'specimen', record(answer, 201).id), answer.body)
    },
  },
]
