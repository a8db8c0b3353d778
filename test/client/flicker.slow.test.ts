import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../src/client.ts'
import { Random } from '../support/random.ts'
import { seed as firstSeed } from '../support/seed.ts'
import { eventually } from './eventually.ts'
import { FakeService } from './fake-service.ts'

/*
 * Random writes of a client and of others, with random delays before each write, answer and frame, and broken connections.
 * Every value is unique, so that each displayed frame can be compared with the order in which the service performed the
 * writes: no frame shows an older value after a newer one.
 */

const runs = Number(process.env.KEELSON_TEST_STEPS ?? 30)
const models = {
  card: { attributes: { title: { type: 'string' }, lane: { type: 'string' }, rank: { type: 'number' } } },
} as const
const lanes = ['todo', 'doing', 'done']
const finds = [
  { sort: 'rank' as const },
  ...lanes.map((lane) => ({ where: { lane }, sort: 'rank DESC' as const })),
  { sort: 'title' as const, limit: 2 },
]

test(`in ${runs} random histories no frame shows an older value after a newer one`, async () => {
  for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    try {
      await history(new Random(seed))
    } catch (error) {
      throw new Error(`KEELSON_TEST_SEED=${seed} KEELSON_TEST_STEPS=1`, { cause: error })
    }
  }
})

/** The titles that a query displayed, in their order, by record. */
type Displayed = Map<string, string[]>

async function history(random: Random): Promise<void> {
  await using fake = await FakeService.start()
  /** The titles of a record in the order in which the service stored them. A record is known by the name in its title. */
  const stored = new Map<string, string[]>()
  const note = (title: string) => stored.set(nameIn(title), [...(stored.get(nameIn(title)) ?? []), title])
  fake.onCommit = (row) => 'title' in row && note(String(row.title))
  for (let id = 1; id <= 3; id++) fake.write({ id, title: `r${id}:0`, lane: random.pick(lanes), rank: random.below(5) })

  const wait = () => sleep(random.below(4))
  fake.beforeWrite = wait
  fake.beforeAnswer = wait
  fake.beforeFrame = wait

  using api = createClient<{ models: typeof models }>({ url: fake.url, retryDelayMs: [1, 3] })
  const queries = finds.map((find) => api.card.live(find))
  const displayed: Displayed[] = queries.map(() => new Map())
  for (const [index, query] of queries.entries())
    query.subscribe(({ rows }) => {
      const names = rows.map(({ title }) => nameIn(String(title)))
      assert.equal(new Set(names).size, names.length, `a record is displayed twice: ${rows.map(({ title }) => title)}`)
      for (const { title } of rows) {
        const titles = (displayed[index] as Displayed).get(nameIn(String(title))) ?? []
        if (titles.at(-1) !== title) titles.push(String(title))
        displayed[index]?.set(nameIn(String(title)), titles)
      }
    })
  await Promise.all(queries.map(({ ready }) => ready))

  const refused = new Set<string>()
  const writing: Promise<unknown>[] = []
  const ended = (write: Promise<unknown>, title = '') => void writing.push(write.catch(() => refused.add(title)))
  let count = 0
  for (let step = 0; step < 25; step++) {
    const shown = random.pick(queries[0]?.rows ?? [])
    const isOwn = random.below(3) > 0
    const kind = random.below(10)
    const values = { lane: random.pick(lanes), rank: random.below(5) }
    if (kind === 0) fake.cut(random.pick([undefined, 'restart']))
    else if (kind === 1 && isOwn) {
      const title = `c${++count}:0`
      ended(api.card.create({ title, ...values }, { optimistic: true }), title)
    } else if (kind === 2 && isOwn && shown) ended(api.card.destroy(shown.id, { optimistic: true }))
    else if (isOwn && shown) {
      const title = `${nameIn(String(shown.title))}:${++count}`
      if (random.below(8) === 0) fake.refuseWith = 403
      ended(api.card.update(shown.id, { title, ...(random.chance(0.5) && values) }, { optimistic: true }), title)
    } else {
      const row = random.pick([...fake.rows.values()])
      if (row) fake.write({ ...row, title: `${nameIn(String(row.title))}:${++count}`, ...values })
    }
    await wait()
  }
  await Promise.all(writing)
  fake.refuseWith = undefined
  for (const [index, query] of queries.entries())
    await eventually(() => assert.deepEqual(query.rows, fake.find(finds[index] ?? {})))

  for (const [index, titlesByName] of displayed.entries())
    for (const [name, titles] of titlesByName) {
      const places = titles
        .filter((title) => !refused.has(title))
        .map((title) => stored.get(name)?.indexOf(title) ?? -1)
      const isOrdered = places.every((place, at) => place >= 0 && (at === 0 || place >= (places[at - 1] as number)))
      assert.ok(
        isOrdered,
        `query ${index} displayed ${titles}; stored were ${stored.get(name)}; refused ${[...refused]}`,
      )
    }
}

const nameIn = (title: string): string => title.split(':')[0] as string
