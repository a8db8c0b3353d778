import assert from 'node:assert/strict'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { createService, type Service } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/*
 * A client stores long values, by which others sort. Where a page ends with such a record, the place of the next one is in a header:
 * Node refuses answers with headers of more than 16 kB, and proxies those of more than four or eight.
 */

const models = {
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: {
    attributes: {
      name: { type: 'string' },
      code: { type: 'string' },
      rank: { type: 'number' },
      owner: { model: 'owner' },
    },
  },
  film: { primaryKey: 'title', attributes: { title: { type: 'string', required: true } } },
  reel: { primaryKey: 'title', attributes: { title: { type: 'string', required: true } } },
} as const

const longestHeader = 3_000
const long = (end: number | string): string => `${'long é '.repeat(3_000)}${end}`
const sorts = [
  'name',
  'name DESC',
  'code,name DESC',
  'code DESC,name',
  'owner.name,code',
  'owner.name DESC,rank DESC,name',
  'rank,name,code DESC',
]

for (const database of databases)
  describe(`the place of the next page is short, ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Service
    before(async () => {
      opened = await database.open()
      service = (await createService({
        models,
        database: opened.url,
        shapes: '/shape',
        limits: { maxLimit: 100 },
        onError: (error) => assert.fail(String(error)),
      })) as unknown as Service
      const { owner, pet, film, reel } = service.system.records as never as Record<
        string,
        { createMany(list: object[]): unknown }
      >
      await owner?.createMany([{ name: long(2) }, { name: long(1) }, { name: 'short' }, {}])
      const pets = Array.from({ length: 25 }, (_, index) => ({
        name: index % 5 === 0 ? null : index % 5 === 1 ? `n${index}` : long(index % 7),
        code: index % 3 === 0 ? long(index % 2) : index % 3 === 1 ? null : 'c',
        rank: index % 4 === 0 ? null : index % 4,
        owner: index % 5 === 0 ? null : index % 5,
      }))
      await pet?.createMany(pets)
      await film?.createMany(
        Array.from({ length: 7 }, (_, index) => ({ title: index % 3 === 0 ? `t${index}` : long(index) })),
      )
      const longKeys = (length: number) =>
        Array.from({ length: 120 }, (_, index) => ({ title: `${'x'.repeat(length)}${index}` }))
      await reel?.createMany([...longKeys(1_200), ...longKeys(10_000)])
    })
    after(async () => {
      await service?.close()
      await opened?.[Symbol.asyncDispose]()
    })

    const get = (path: string) => service.fetch(new Request(`http://localhost${path}`))
    const keysOf = async (response: Response, key: string) =>
      ((await response.json()) as Record<string, unknown>[]).map((record) => record[key])

    /** The keys on all pages, one after the other. */
    async function pages(path: string, key: string): Promise<unknown[]> {
      const keys: unknown[] = []
      for (let next: string | undefined = path; next !== undefined; ) {
        const response = await get(next)
        assert.equal(response.status, 200)
        const link: string = response.headers.get('link') ?? ''
        assert.ok(link.length <= longestHeader, `${link.length} characters`)
        keys.push(...(await keysOf(response, key)))
        next = /^<(.*)>; rel="next"$/.exec(link)?.[1]
      }
      return keys
    }

    for (const sort of sorts)
      for (const limit of [1, 3])
        test(`pets by ${sort}, ${limit} on a page`, async () => {
          const address = `/pet?select=id&populate=false&sort=${sort}`
          const all = await keysOf(await get(`${address}&limit=100`), 'id')
          assert.deepEqual(await pages(`${address}&limit=${limit}`, 'id'), all)
          assert.equal(all.length, 25)
        })

    test('films by long keys', async () => {
      const all = await keysOf(await get('/film?limit=100'), 'title')
      assert.equal(all.length, 7)
      for (const limit of [1, 2]) assert.deepEqual(await pages(`/film?limit=${limit}`, 'title'), all)
    })

    test('a list whose parameters are too long for a link goes on with them and the cursor, and with no others', async () => {
      const where = { or: [{ name: { '!': null } }, { name: long('nothing').slice(0, 3_000) }] }
      const query = `?populate=false&sort=id&limit=10&where=${encodeURIComponent(JSON.stringify(where))}`
      const linkOf = (response: Response): string | undefined =>
        /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
      const first = await get(`/pet${query}`)
      const link = linkOf(first) ?? ''
      assert.match(link, /^\/pet\?cursor=[\w.-]{1,200}$/)
      assert.equal((await get(link)).status, 400)
      const cursor = link.slice(link.indexOf('cursor='))
      const other = await get(`/pet?sort=id&where=${JSON.stringify({ name: null })}&${cursor}`)
      assert.deepEqual([other.status, /send them again/.test(await other.text())], [400, true])
      const later = await get(`/pet${query}&${cursor}`)
      assert.equal(later.status, 200)
      assert.equal(linkOf(later), undefined)
      const keys = [...(await keysOf(first, 'id')), ...(await keysOf(later, 'id'))]
      const all = await keysOf(await get(`/pet?populate=false&sort=id&where={"name":{"!":null}}&limit=100`), 'id')
      assert.deepEqual(keys, all)
    })

    test('the same with parameters in a body', async () => {
      const { url } = await service.listen(0, '127.0.0.1')
      const parameters = { where: { name: { '!': long('nothing') } }, limit: 15, sort: 'id', populate: false }
      const ask = (path: string) =>
        new Promise<{ status?: number; link?: string; keys: unknown[] }>((resolve, reject) => {
          const sent = JSON.stringify(parameters)
          const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(sent) }
          const asked = request(url + path, { headers }, async (response) => {
            const body = await text(response)
            const link = /^<(.*)>; rel="next"$/.exec(String(response.headers.link ?? ''))?.[1]
            const keys = response.statusCode === 200 ? JSON.parse(body).map(({ id }: { id: number }) => id) : []
            resolve({ ...(response.statusCode && { status: response.statusCode }), ...(link && { link }), keys })
          })
          asked.on('error', reject).end(sent)
        })
      const first = await ask('/pet')
      assert.match(first.link ?? '', /^\/pet\?cursor=[\w.-]{1,200}$/)
      const second = await ask(first.link as string)
      const all = await keysOf(await get('/pet?populate=false&where={"name":{"!":null}}&limit=100'), 'id')
      assert.deepEqual([first.status, second.status, first.keys.length + second.keys.length], [200, 200, all.length])
    })

    test('a shape with long keys', async () => {
      const keys = new Set<unknown>()
      for (let query = 'offset=-1', isUpToDate = false; !isUpToDate; ) {
        const response = await get(`/shape?table=reel&${query}`)
        assert.equal(response.status, 200)
        const { headers } = response
        for (const { value } of (await response.json()) as { value?: { title: string } }[])
          if (value) keys.add(value.title)
        query = `offset=${headers.get('electric-offset')}&handle=${headers.get('electric-handle')}`
        isUpToDate = headers.has('electric-up-to-date')
      }
      assert.equal(keys.size, 240)
    })
  })
