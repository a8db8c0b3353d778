import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../../src/client.ts'
import { createService } from '../../../src/index.ts'
import type { DatabaseKind } from '../../support/databases.ts'
import { Random } from '../../support/random.ts'
import { seed as firstSeed } from '../../support/seed.ts'
import { eventually } from '../eventually.ts'

/*
 * As `flicker.slow.test.ts`, with the service itself in place of the fake one: optimistic writes of one client, writes of
 * another, delays around each request and in the stream, and streams that break.
 */

const models = {
  card: { attributes: { title: { type: 'string' }, lane: { type: 'string', index: true }, rank: { type: 'number' } } },
} as const
const lanes = ['todo', 'doing', 'done']
const finds = [
  { sort: 'rank' as const },
  ...lanes.map((lane) => ({ where: { lane }, sort: 'rank DESC' as const })),
  { sort: 'title' as const, limit: 2 },
]

/** Declares a test of some histories on a database; `KEELSON_TEST_STEPS` is another number of them. */
export function testHistories(kind: DatabaseKind, usualRuns: number): void {
  const runs = Number(process.env.KEELSON_TEST_STEPS ?? usualRuns)
  describe(kind.name, { skip: kind.missing ?? false }, () => {
    test(`in ${runs} random histories no frame shows an older value after a newer one`, async () => {
      for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
        try {
          await history(kind, new Random(seed))
        } catch (error) {
          throw new Error(`KEELSON_TEST_SEED=${seed} KEELSON_TEST_STEPS=1`, { cause: error })
        }
      }
    })
  })
}

async function history(kind: DatabaseKind, random: Random): Promise<void> {
  await using database = await kind.open()
  await using service = await createService({ database: database.url, models })
  const { url } = await service.listen(0)
  const { card } = service.system.records
  const titles = new StoredTitles()
  const events = card.live()
  const following = titles.follow(events)
  await titles.ready.promise

  const cuts = new Set<() => void>()
  using api = createClient<{ models: typeof models }>({ url, retryDelayMs: [1, 3], fetch: slowFetch(random, cuts) })
  for (let id = 1; id <= 3; id++)
    await card.create({ title: `r${id}:0`, lane: random.pick(lanes), rank: random.below(5) })

  const queries = finds.map((find) => api.card.live(find))
  const displayed = queries.map(() => new Map<string, string[]>())
  for (const [index, query] of queries.entries())
    query.subscribe(({ rows }) => {
      const names = rows.map(({ title }) => nameIn(String(title)))
      assert.equal(new Set(names).size, names.length, `a record is displayed twice: ${rows.map(({ title }) => title)}`)
      for (const { title } of rows) append(displayed[index] as Map<string, string[]>, String(title))
    })
  await Promise.all(queries.map(({ ready }) => ready))

  const refused = new Set<string>()
  const writing: Promise<unknown>[] = []
  const ended = (write: Promise<unknown>, title = '') => void writing.push(write.catch(() => refused.add(title)))
  let count = 0
  for (let step = 0; step < 25; step++) {
    const shown = random.pick(queries[0]?.rows ?? [])
    const values = { lane: random.pick(lanes), rank: random.below(5) }
    const step = random.below(10)
    if (step === 0) for (const cut of cuts) cut()
    else if (step === 1) {
      const title = `c${++count}:0`
      ended(api.card.create({ title, ...values }, { optimistic: true }), title)
    } else if (step === 2 && shown) ended(api.card.destroy(shown.id, { optimistic: true }))
    else if (step < 7 && shown) {
      const title = `${nameIn(String(shown.title))}:${++count}`
      ended(api.card.update(shown.id, { title, ...(random.chance(0.5) && values) }, { optimistic: true }), title)
    } else {
      const { data } = await card.find()
      const row = random.pick(data)
      // It may have been destroyed meanwhile.
      if (row)
        await card.update(row.id, { title: `${nameIn(String(row.title))}:${++count}`, ...values }).catch(() => {})
    }
    await sleep(random.below(4))
  }
  await Promise.all(writing)
  for (const [index, query] of queries.entries()) {
    const { data } = await card.find(finds[index] ?? {})
    await eventually(() => assert.deepEqual(query.rows, data))
  }
  await card.create({ title: 'end:0' })
  await following

  for (const [index, titlesByName] of displayed.entries())
    for (const [name, shown] of titlesByName) {
      const stored = titles.of(name)
      const places = shown.filter((title) => !refused.has(title)).map((title) => stored.indexOf(title))
      const isOrdered = places.every((place, at) => place >= 0 && (at === 0 || place >= (places[at - 1] as number)))
      assert.ok(isOrdered, `query ${index} displayed ${shown}; stored were ${stored}; refused ${[...refused]}`)
    }
}

/** The titles of each record in the order in which they were committed. A record is known by the name in its title. */
class StoredTitles {
  readonly #titles = new Map<string, string[]>()
  /** Later writes are followed. */
  readonly ready = Promise.withResolvers<void>()

  of(name: string): readonly string[] {
    return this.#titles.get(name) ?? []
  }

  /** Ends with the record `end`. */
  async follow(events: AsyncIterable<{ readonly verb: string; readonly data?: { readonly title?: unknown } }>) {
    for await (const { verb, data } of events) {
      if (verb === 'ready') this.ready.resolve()
      if ((verb !== 'created' && verb !== 'updated') || data?.title === undefined) continue
      if (data.title === 'end:0') return
      append(this.#titles, String(data.title))
    }
  }
}

/** Requests and pieces of streams that are delayed, and `cuts` that break a stream. */
const slowFetch =
  (random: Random, cuts: Set<() => void>): typeof fetch =>
  async (input, init) => {
    const wait = () => sleep(random.below(4))
    await wait()
    const response = await fetch(input, init)
    await wait()
    if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) return response
    const slow = new TransformStream<Uint8Array, Uint8Array>({
      start(controller) {
        const cut = () => {
          cuts.delete(cut)
          controller.error(new TypeError('the connection was cut'))
        }
        cuts.add(cut)
      },
      async transform(piece, controller) {
        await wait()
        controller.enqueue(piece)
      },
    })
    return new Response(response.body.pipeThrough(slow), response)
  }

function append(titles: Map<string, string[]>, title: string): void {
  const list = titles.get(nameIn(title)) ?? []
  if (list.at(-1) !== title) list.push(title)
  titles.set(nameIn(title), list)
}

const nameIn = (title: string): string => title.split(':')[0] as string
