import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { RecordId } from '../../src/index.ts'
import { freshDatabase, missingPostgres, postgresForTests } from '../support/postgres.ts'
import { seed } from '../support/seed.ts'
import { newFile } from '../support/sqlite.ts'
import { start } from './durability/process.ts'
import { Random } from './durability/random.ts'
import { tagIds } from './durability/settings.ts'
import { holdingsIn, readStored, replay, type Stored } from './durability/stored.ts'
import { type Holdings, unknownId, Writer } from './durability/writer.ts'

const rounds = 6
const writerCount = 6
/** In one round; the kill comes after fewer of them, and a moment later. */
const mostWrites = 150
const momentMs = 15

const postgres = missingPostgres === undefined ? await postgresForTests() : undefined
after(() => postgres?.stop())

test('SQLite: killed at any moment, a service keeps what it acknowledged, and nothing by halves', (t) =>
  killAgainAndAgain(t, `sqlite:${newFile()}`))

test('PostgreSQL: killed at any moment, a service keeps what it acknowledged, and nothing by halves', {
  skip: missingPostgres ?? false,
}, async (t) => {
  await using database = await freshDatabase(postgres?.url ?? '')
  await killAgainAndAgain(t, database.url)
})

async function killAgainAndAgain(t: TestContext, database: string): Promise<void> {
  t.diagnostic(`KEELSON_TEST_SEED=${seed}`)
  const random = new Random(seed)
  const writers = Array.from({ length: writerCount }, (_, index) => new Writer(`w${index}`, new Random(seed + index)))
  const ids = new Map<string, string>()
  let total = 0
  for (let round = 0; round < rounds; round++) {
    const server = await start(database)
    if (round === 0) await createTags(server.url)
    const last = total + random.below(mostWrites)
    const enough = Promise.withResolvers<void>()
    const acknowledge = () => {
      total++
      if (total >= last) enough.resolve()
    }
    const writing = Promise.all(writers.map((writer) => writer.writeTo(server.url, acknowledge)))
    await Promise.race([enough.promise, writing])
    await wait(random.below(momentMs))
    await server.kill()
    await writing
    await settled(database)
    const stored = await readStored(database)
    for (const writer of writers) {
      writer.holdings = whatIsTrue(writer, holdingsIn(stored, writer.name), `round ${round}`)
      writer.pending = undefined
    }
    noIdTwice(stored, ids)
    replay(stored)
  }
  t.diagnostic(`${total} writes were acknowledged in ${rounds} rounds`)
}

async function createTags(url: string): Promise<void> {
  for (const id of tagIds) {
    const response = await fetch(`${url}/tag`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ label: `tag ${id}` }),
    })
    assert.equal(((await response.json()) as { id: number }).id, id)
  }
}

/** What is stored is what was acknowledged, or that and the write that was not answered: never a part of it. */
function whatIsTrue({ name, holdings, pending }: Writer, stored: Holdings, when: string): Holdings {
  if (pending && isSame(stored, pending)) return stored
  assert.deepEqual(stored, holdings, `${when}, ${name}: what was acknowledged is there`)
  return stored
}

/** Ids of which no response arrived count as equal. */
function isSame(stored: Holdings, pending: Holdings): boolean {
  const blank = ({ owners, pets }: Holdings) => ({
    owners: new Map([...owners].map(([mark, id]) => [mark, pending.owners.get(mark) === unknownId ? unknownId : id])),
    pets: new Map(
      [...pets].map(([mark, pet]) => [
        mark,
        pending.pets.get(mark)?.id === unknownId ? { ...pet, id: unknownId } : pet,
      ]),
    ),
  })
  try {
    assert.deepEqual(blank(stored), pending)
    return true
  } catch {
    return false
  }
}

/** An id belongs to one mark for ever, also after its record has gone. */
function noIdTwice({ owners, pets }: Stored, ids: Map<string, string>): void {
  for (const [model, records] of [
    ['owner', owners],
    ['pet', pets],
  ] as const) {
    for (const { id, mark } of records) {
      const key = `${model} ${id as RecordId}`
      assert.equal(ids.get(key) ?? mark, mark, `${key} is given once`)
      ids.set(key, mark as string)
    }
  }
}

/** A database server finishes what a killed client had planned for; only then can be said what is true. */
async function settled(url: string): Promise<void> {
  if (!url.startsWith('postgres')) return
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const others = `select count(*) as n from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`
    while (Number((await client.query(others)).rows[0].n) > 0) await wait(10)
  } finally {
    await client.end()
  }
}
