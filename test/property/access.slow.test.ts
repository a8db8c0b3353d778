import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { isEncoded } from '../../src/protocol/json.ts'
import type { ServiceRequest, ServiceResponse } from '../../src/protocol/request.ts'
import { type DatabaseKind, databases } from '../support/databases.ts'
import { Random } from '../support/random.ts'
import { seed } from '../support/seed.ts'
import { randomAddress, randomRules } from './access/generate.ts'
import { type Visible, visible } from './access/reference.ts'
import {
  complete,
  data,
  junction,
  modelNames,
  modelsOf,
  openRules,
  type Rules,
  setRules,
  tagged,
} from './access/world.ts'

/*
 * Random rules and random requests. The reference is a database that holds only what the rules let the requester see,
 * served without rules: every answer must be equal, page by page, with its status, its total and its errors.
 */

const ruleSets = Number(process.env.KEELSON_TEST_RULES ?? 25)
const requestsPerRuleSet = 40
const shared = { createdAt: false, updatedAt: false } as const
const limits = { logKeepRows: 1000 }

interface Handler {
  handle(request: ServiceRequest): ServiceResponse | Promise<ServiceResponse>
}

interface Seen {
  readonly status: number
  readonly body: unknown
  readonly total: string | undefined
  readonly next: string | undefined
}

async function ask({ handle }: Handler, address: string): Promise<Seen> {
  const [path = '', query = ''] = address.split('?')
  const response = await handle({ method: 'GET', path, query, headers: {}, site: 'none' })
  const { body } = response
  const parsed = body !== undefined && isEncoded(body) ? JSON.parse(body.encoded) : body
  const next = /cursor=([^>]*)/.exec(response.headers.Link ?? '')?.[1]
  return { status: response.status, body: parsed, total: response.headers['X-Total-Count'], next }
}

/** An answer with the pages behind it. */
async function answers(service: Handler, address: string): Promise<readonly Omit<Seen, 'next'>[]> {
  const found: Omit<Seen, 'next'>[] = []
  for (let cursor = ''; found.length < 8; ) {
    const { next, ...seen } = await ask(service, `${address}${cursor}`)
    found.push(seen)
    if (next === undefined) break
    cursor = `&cursor=${next}`
  }
  return found
}

/** The database that a requester sees, without any constraint: a reference may lead to a record that is not in it. */
function writeVisible(file: string, rows: Visible): void {
  const database = new DatabaseSync(file)
  for (const model of modelNames) {
    const columns = Object.keys(complete[model][0] ?? {})
    database.exec(
      `create table ${model} (id integer primary key, ${columns.filter((name) => name !== 'id').join(', ')})`,
    )
    const insert = database.prepare(
      `insert into ${model} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
    )
    for (const row of rows[model]) insert.run(...columns.map((name) => row[name] as string | number | null))
  }
  const junctionColumns = ['pet_tags', 'tag_pets']
  database.exec(`create table ${junction} (${junctionColumns.join(', ')}, primary key (${junctionColumns.join(', ')}))`)
  for (const [pet, tag] of rows.tagged) database.prepare(`insert into ${junction} values (?, ?)`).run(pet, tag)
  database.close()
}

async function openRuled(kind: DatabaseKind) {
  const opened = await kind.open()
  const service = await createService({
    database: opened.url,
    attributes: shared,
    limits,
    sockets: false,
    auth: { identify: () => ({ id: 1 }) },
    models: modelsOf(true, () => false),
  })
  setRules(openRules)
  const records = service.system.records as Readonly<
    Record<
      string,
      { create(values: object): Promise<unknown>; add(id: number, name: string, child: number): Promise<unknown> }
    >
  >
  for (const model of modelNames) for (const row of data[model]) await records[model]?.create(row)
  for (const [pet, tag] of tagged) await records.pet?.add(pet, 'tags', tag)
  return {
    service,
    async [Symbol.asyncDispose]() {
      await service.close()
      await opened[Symbol.asyncDispose]()
    },
  }
}

async function openReference(folder: string, rules: Rules, number: number) {
  const file = join(folder, `visible-${number}.db`)
  writeVisible(file, visible(rules))
  return createService({
    database: `sqlite:${file}`,
    migrate: 'safe',
    attributes: shared,
    sockets: false,
    models: modelsOf(false, (attribute) => rules.attributes[attribute] === false),
  })
}

for (const kind of databases) {
  describe(kind.name, { skip: kind.missing ?? false }, () => {
    test('every answer is that of a database which holds only what is readable', async (t) => {
      t.diagnostic(`KEELSON_TEST_SEED=${seed} KEELSON_TEST_RULES=${ruleSets}`)
      const random = new Random(seed)
      const folder = await mkdtemp(join(tmpdir(), 'keelson-access-'))
      await using ruled = await openRuled(kind)
      let compared = 0
      let found = 0
      try {
        for (let number = 0; number < ruleSets; number++) {
          const rules = randomRules(random)
          const reference = await openReference(folder, rules, number)
          try {
            for (let request = 0; request < requestsPerRuleSet; request++) {
              const address = randomAddress(random)
              const expected = await answers(reference, address)
              setRules(rules)
              const actual = await answers(ruled.service, address)
              const told = `${decodeURIComponent(address)}\nrules ${JSON.stringify({ read: rules.read, attributes: rules.attributes })}`
              assert.deepEqual(actual, expected, told)
              compared++
              if (expected[0]?.status === 200 && JSON.stringify(expected[0].body).length > 2) found++
            }
          } finally {
            await reference.close()
          }
        }
      } finally {
        setRules(openRules)
        await rm(folder, { recursive: true, force: true })
      }
      t.diagnostic(`${compared} requests compared, ${found} of them with records`)
      assert.ok(found > compared / 5, 'the generator makes requests that find something')
    })
  })
}
