import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { EncodedJson } from '../../src/protocol/json.ts'
import type { ServiceRequest } from '../../src/protocol/request.ts'
import { type OpenService, openService } from '../../src/service/open-service.ts'
import { Random } from '../support/random.ts'
import { RawSocket } from '../support/raw-socket.ts'
import { seed } from '../support/seed.ts'
import { newFile } from '../support/sqlite.ts'
import { countPages, faults, keyFault, plant } from './encoded-pages/faults.ts'
import { type Any, fill, models, randomQuery } from './encoded-pages/values.ts'

/*
 * Pages that a reader process reads and encodes are those of a service that reads and encodes them itself, to the byte: over all
 * types, what other programs may have stored, rules, pages, counts, JSONP and sockets.
 */

/** With less time than any read is begun with, every list is read in a reader process. */
const elsewhere = { maxBlockMs: 1 }
const here = { maxBlockMs: 60_000 }

const configOf = (path: string, limits: object) => ({
  models: models as Any,
  database: `sqlite:${path}`,
  cache: false as const,
  auth: { identify: ({ headers }: Any) => ({ id: 1, sees: headers.sees }) },
  limits,
})

function requestOf(query: string, sees: string): ServiceRequest {
  return { method: 'GET', path: '/thing', query, headers: { sees }, site: 'none' }
}

async function told(service: OpenService, request: ServiceRequest) {
  const { status, headers, body } = await service.handle(request)
  return { status, headers, text: body instanceof EncodedJson ? body.encoded : JSON.stringify(body ?? null) }
}

const nextOf = (link: string | undefined): string | undefined => /\?([^>]*)>/.exec(link ?? '')?.[1]

async function compare(count: number, ofSeed: number, fault?: string): Promise<void> {
  const random = new Random(ofSeed)
  const path = newFile()
  await using local = await openService(configOf(path, here))
  await using remote = await openService(configOf(path, elsewhere))
  using sql = new DatabaseSync(path)
  fill(sql, random, 200)
  using _ = plant(fault)
  for (let index = 0; index < count; index++) {
    const sees = random.pick(['all', 'some'])
    let query: string | undefined = randomQuery(random)
    for (let page = 0; page < 3 && query !== undefined; page++) {
      const expected = await told(local, requestOf(query, sees))
      assert.equal(expected.status, 200, expected.text.slice(0, 1_000))
      const answer = await told(remote, requestOf(query, sees))
      assert.ok(answer.text === expected.text, `other bytes for ${query}: ${answer.text.slice(0, 300)}`)
      assert.deepEqual(answer, expected, query)
      query = nextOf(expected.headers.Link)
    }
  }
}

describe('pages that a reader process encodes', () => {
  test('are those of the event loop', async (t) => {
    using pages = countPages()
    await compare(150, seed)
    t.diagnostic(`KEELSON_TEST_SEED=${seed}: ${pages.count} pages, ${pages.inSeveralParts} in several parts`)
    assert.ok(pages.count > 100 && pages.inSeveralParts > 20, `${pages.count}, ${pages.inSeveralParts}`)
  })

  for (const fault of faults)
    test(`differ where ${fault}`, async () => {
      await assert.rejects(compare(150, 1, fault), { name: 'AssertionError' })
    })
})

describe('over a socket', () => {
  /** The frames of some pages, and the keys of the records of which changes arrive after one of them. */
  async function pagesOf(limits: object, path: string) {
    await using service = await createService(configOf(path, limits))
    const { url } = await service.listen(0)
    using sql = new DatabaseSync(path)
    await using follower = await RawSocket.connect(url, { sees: 'all' })
    await follower.ask('get', { method: 'get', url: '/owner?limit=1&populate=false' })
    await follower.ask('get', { method: 'get', url: '/thing?populate=false&limit=5&sort=at&where={"id":{">":20}}' })
    sql.exec("pragma busy_timeout = 5000; update thing set count = 77; insert into owner (name) values ('told')")
    await follower.until((frame) => frame.startsWith('42["owner",{"verb":"created"'))
    const ids = new Set(follower.events().map(([, payload]) => (payload as Any).id))
    await using socket = await RawSocket.connect(url, { sees: 'all' })
    const random = new Random(2)
    const frames: string[] = []
    for (let index = 0; index < 20; index++) {
      const query = randomQuery(random).replaceAll('&callback=f', '')
      socket.send(`42${index}${JSON.stringify(['get', { method: 'get', url: `/thing?${query}` }])}`)
      frames.push(await socket.until((frame) => frame.startsWith(`43${index}[`)))
    }
    return { frames, ids }
  }

  async function compareSockets(fault?: string): Promise<void> {
    const [first, second] = [newFile(), newFile()]
    for (const path of [first, second]) {
      await using _ = await createService(configOf(path, here))
      using sql = new DatabaseSync(path)
      fill(sql, new Random(3), 200)
    }
    const expected = await pagesOf(here, first)
    using _ = plant(fault)
    const answer = await pagesOf(elsewhere, second)
    // Two files have two secrets.
    const withoutSecrets = (frames: readonly string[]) =>
      frames.map((frame) => frame.replace(/"Keelson-Position":"[^"]*"|"ETag":"[^,}]*"|cursor=[^>]*/g, ''))
    assert.deepEqual(withoutSecrets(answer.frames), withoutSecrets(expected.frames))
    assert.equal(expected.ids.size, 5)
    assert.deepEqual(answer.ids, expected.ids)
  }

  test('they are the same, and so are the records that it is subscribed to', async () => {
    using pages = countPages()
    await compareSockets()
    assert.ok(pages.count > 10, `${pages.count} pages`)
  })

  test(`changes of other records arrive where ${keyFault}`, async () => {
    await assert.rejects(compareSockets(keyFault), { name: 'AssertionError' })
  })
})
