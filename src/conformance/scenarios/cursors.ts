import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { address, column, create, refused } from '../expect.ts'
import type { Answer, Api, Scenario } from '../scenario.ts'

/** The path of the next page, from the `Link` header. */
function nextOf(answer: Answer): string | undefined {
  const link = answer.header('link')
  if (link === undefined) return undefined
  const found = /^<([^<>]*)>; rel="next"$/.exec(link)
  assert.ok(found, link)
  return (found[1] as string).replace(/^https?:\/\/[^/]*/, '')
}

/** The values of all pages. The body belongs to the first request only: a link is complete by itself. */
async function walk(api: Api, path: string, name = 'label', body?: JsonObject): Promise<readonly (Json | undefined)[]> {
  const all: (Json | undefined)[] = []
  for (let next: string | undefined = path, pages = 0; next !== undefined; pages++) {
    assert.ok(pages < 50, 'the last page has no cursor')
    const answer: Answer = await api.request('GET', next, pages === 0 && body ? { body } : {})
    all.push(...column(answer, name))
    next = nextOf(answer)
  }
  return all
}

/** Rows with ties and nulls in every sortable column. */
async function fill(api: Api): Promise<void> {
  for (let index = 0; index < 11; index++) {
    await create(api, 'specimen', {
      label: String.fromCodePoint(0x1f980 + index),
      ...(index % 4 > 0 && { legs: index % 3 }),
      ...(index % 5 > 0 && { weight: (index % 2) / 3 }),
      ...(index % 3 > 0 && { serial: `900719925474099${index % 2 ? 3 : 5}` }),
      ...(index % 2 > 0 && { bornAt: index * 1000 }),
    })
  }
}

/** Keyset pages (`cursor`) and the total count. */
export const cursors: readonly Scenario[] = [
  {
    name: 'cursors: consecutive pages form the whole list, in any order',
    async run(api) {
      await fill(api)
      const sorts = [
        'id',
        'id DESC',
        'legs',
        'legs DESC',
        'legs DESC, weight',
        'weight, legs DESC, id DESC',
        'serial DESC',
        'bornAt',
        'bornAt DESC, label',
        'label DESC',
      ]
      for (const sort of sorts) {
        const whole = column(await api.request('GET', address('/specimen', { sort })), 'label')
        for (const limit of ['1', '4', '11']) {
          assert.deepEqual(await walk(api, address('/specimen', { sort, limit })), whole, `${sort}, ${limit} at a time`)
        }
      }
    },
  },
  {
    name: 'cursors: the filter applies to every page, skip applies once, and the sort attribute need not be selected',
    async run(api) {
      await fill(api)
      const where = { legs: { '>=': 1 } }
      const whole = column(await api.request('GET', address('/specimen', { where, sort: 'weight' })), 'id')
      assert.deepEqual(await walk(api, address('/specimen', { where, sort: 'weight', limit: '2' }), 'id'), whole)
      assert.deepEqual(
        await walk(api, address('/specimen', { where, sort: 'weight', limit: '2', skip: '1' }), 'id'),
        whole.slice(1),
      )
      assert.deepEqual(
        await walk(api, address('/specimen', { where, sort: 'weight', limit: '2', select: 'label' }), 'id'),
        whole,
      )
      assert.deepEqual(await walk(api, '/specimen?legs[>]=0&sort=weight&limit=2', 'id'), whole)
    },
  },
  {
    name: 'cursors: the link of a request with parameters in its body contains them',
    needs: ['anyRequest'],
    async run(api) {
      await fill(api)
      const cases: readonly (readonly [path: string, body: JsonObject])[] = [
        ['/specimen', { where: { legs: { '>=': 1 } }, sort: 'weight DESC' }],
        ['/specimen', { legs: [1, 2], sort: [{ weight: 1 }, 'label DESC'] }],
        ['/specimen', { legs: null }],
        ['/specimen', { label: { '>': '🦀 & <b>=+%' }, select: ['label', 'legs'] }],
        ['/specimen?sort=label&legs[>]=0', { sort: 'label DESC', weight: { '<': 1 }, skip: 1 }],
        ['/specimen?where={"legs":0}', { sort: { label: -1 }, select: 'label' }],
      ]
      for (const [path, body] of cases) {
        const whole = column(await api.request('GET', path, { body }), 'label')
        assert.ok(whole.length > 1 && whole.length < 11, path)
        assert.deepEqual(await walk(api, path, 'label', { ...body, limit: 2 }), whole, JSON.stringify(body))
        assert.deepEqual(await walk(api, `${path}${path.includes('?') ? '&' : '?'}limit=1`, 'label', body), whole)
      }
      const first = await api.request('GET', '/specimen', { body: { limit: 2, select: ['label'], count: true } })
      const second = await api.request('GET', nextOf(first) as string)
      assert.deepEqual(Object.keys((second.body as readonly JsonObject[])[0] as JsonObject), ['id', 'label'])
      assert.equal(second.header('x-total-count'), '11')
    },
  },
  {
    name: 'cursors: records created and destroyed between pages neither repeat nor hide others',
    async run(api) {
      for (const label of ['b', 'd', 'f', 'h']) await create(api, 'specimen', { label })
      const first = await api.request('GET', '/specimen?sort=label&limit=2')
      assert.deepEqual(column(first, 'label'), ['b', 'd'])
      for (const label of ['a', 'c', 'e']) await create(api, 'specimen', { label })
      const [d] = column(await api.request('GET', '/specimen?label=d'), 'id')
      await api.request('DELETE', `/specimen/${d}`)
      assert.deepEqual(await walk(api, nextOf(first) as string), ['e', 'f', 'h'])
    },
  },
  {
    name: 'cursors: the last page has no Link header',
    async run(api) {
      await fill(api)
      for (const query of ['', 'limit=11', 'limit=0', 'limit=5&skip=6', 'label=nobody']) {
        assert.equal(nextOf(await api.request('GET', `/specimen?${query}`)), undefined, query)
      }
      assert.notEqual(nextOf(await api.request('GET', '/specimen?limit=10')), undefined)
    },
  },
  {
    name: 'cursors: also for the members of an association, and for lists sorted by an associated record',
    async run(api) {
      const names = ['Ann', 'Bob', 'Cy']
      const keepers: number[] = []
      for (const name of names) keepers.push((await create(api, 'keeper', { name })).id as number)
      for (let index = 0; index < 7; index++) {
        const keeper = keepers[index % 4]
        await create(api, 'animal', { name: `a${index}`, ...(keeper !== undefined && { keeper }) })
      }
      for (const sort of ['keeper.name', 'keeper.name DESC', 'keeper.age, name DESC']) {
        const whole = column(await api.request('GET', address('/animal', { sort, populate: 'false' })), 'name')
        assert.deepEqual(
          await walk(api, address('/animal', { sort, limit: '2', populate: 'false' }), 'name'),
          whole,
          sort,
        )
      }
      assert.deepEqual(await walk(api, `/keeper/${keepers[0]}/animals?limit=1&populate=false`, 'name'), ['a0', 'a4'])
    },
  },
  {
    name: 'cursors: a foreign, altered or mismatched cursor is refused',
    async run(api) {
      await fill(api)
      const next = nextOf(await api.request('GET', '/specimen?sort=label&limit=2')) as string
      const cursor = new URLSearchParams(next.slice(next.indexOf('?'))).get('cursor') as string
      const wrong = [
        '',
        'x',
        'x.y',
        '.',
        `${cursor}x`,
        cursor.slice(1),
        cursor.replace(/^./, 'Z'),
        '[1]',
        'WzFd.aaaaaaaaaaaaaaaaaaaaaa',
        '__proto__',
      ]
      for (const text of wrong)
        refused(await api.request('GET', address('/specimen', { sort: 'label', cursor: text })), 'E_BAD_CRITERIA')
      for (const sort of ['label DESC', 'legs', 'id'])
        refused(await api.request('GET', address('/specimen', { sort, cursor })), 'E_BAD_CRITERIA')
      refused(await api.request('GET', address('/enclosure', { cursor })), 'E_BAD_CRITERIA')
      refused(await api.request('GET', address('/specimen', { sort: 'label', cursor, skip: '1' })), 'E_BAD_CRITERIA')
      refused(await api.request('GET', `/specimen?sort=label&cursor=${cursor}&cursor=${cursor}`), 'E_BAD_CRITERIA')
    },
  },
  {
    name: 'count: the total of all pages, on request',
    async run(api) {
      await fill(api)
      const cases = [
        ['count=true', '11'],
        ['count=true&limit=2', '11'],
        ['count=true&limit=0', '11'],
        ['count=true&skip=5', '11'],
        ['count=true&legs=0', String(column(await api.request('GET', '/specimen?legs=0'), 'id').length)],
        ['count=true&label=nobody', '0'],
        ['count=false', undefined],
        ['', undefined],
      ] as const
      for (const [query, total] of cases) {
        assert.equal((await api.request('GET', `/specimen?${query}`)).header('x-total-count'), total, query)
      }
      for (const text of ['', '1', 'yes', 'null'])
        refused(await api.request('GET', `/specimen?count=${text}`), 'E_BAD_CRITERIA')
    },
  },
]
