import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FreshDatabase } from '../../../test/support/postgres.ts'
import { emptyDatabase, withPostgres } from '../../../test/support/postgres-database.ts'
import { createService, type Logger } from '../../index.ts'
import type { JsonObject } from '../../protocol/json.ts'

/** The types of columns, and a text that each refuses. */
const refused: readonly (readonly [type: string, text: string])[] = [
  ['inet', 'x'],
  ['cidr', '10.0.0.1/8'],
  ['macaddr', 'x'],
  ['int4range', '[2,1]'],
  ['daterange', '[x,]'],
  ['tsvector', "'x"],
  ['tsquery', '&'],
  ['money', 'x'],
  ['interval', 'x'],
  ['time', '25:00'],
  ['numeric(3,1)', 'x'],
  ['oid', 'x'],
  ['pg_lsn', 'x'],
  ['mood', 'x'],
  ['mood[]', '{x}'],
  ['int[]', '{'],
  ['positive', '0'],
  ['pair', '(1'],
  ['regclass', 'x'],
  ['regclass', 'pg_toast.x'],
  ['regclass', 'a.b.c.d.e'],
  ['regtype', 'x'],
  ['regtype', 'a b'],
  ['regproc', 'x'],
  ['regprocedure', 'x(int)'],
  ['regoper', '!!!!'],
  ['regoperator', '!!!!(int,int)'],
  ['regrole', 'x'],
  ['regnamespace', 'x'],
  ['regconfig', 'x'],
  ['regdictionary', 'x'],
  ['regcollation', 'x'],
  ['hstore', 'x'],
  ['ltree', 'a..b'],
  ['cube', 'x'],
]
/** The length is checked when the statement runs: the server does not say which value it was. */
const tooLong: typeof refused = [
  ['bit(3)', '1'],
  ['numeric(3,1)', '1000'],
  ['varchar(3)', 'long'],
]
const extensions = ['hstore', 'ltree', 'cube']

/** Words of the messages of the server. */
const internals = /syntax|relation|function|operator|role|schema|collation|enum|check|constraint|invalid input|portal/i

describe('a text that the type of a column refuses', withPostgres, () => {
  test('is a 400 that names the attribute, and is reported once per attribute', async (t) => {
    await using database = await emptyDatabase()
    await database.query(`create type mood as enum ('sad', 'happy'); create domain positive as int check (value > 0);
      create type pair as (a int, b int)`)
    const usable: (readonly [type: string, text: string])[] = []
    for (const [type, text] of [...refused, ...tooLong])
      if (!extensions.includes(type) || (await hasExtension(database, type))) usable.push([type, text])
      else t.diagnostic(`the server has no extension ${type}`)
    const columns = usable.map(([type], index) => `c${index} ${type}`)
    await database.query(
      `create table thing (id serial primary key, ${columns.join(', ')}); insert into thing default values`,
    )
    const types = usable.map(([type], index) => [`c${index}`, { type: 'string', columnType: type }])
    const id = { type: 'number', autoIncrement: true } as const
    const attributes = { id, createdAt: false, updatedAt: false, ...Object.fromEntries(types) }
    const warned: unknown[] = []
    const errors: unknown[] = []
    const logger: Logger = {
      info() {},
      warn: (data) => warned.push(data),
      error: (data) => errors.push(data),
    }
    await using service = await createService({ models: { thing: { attributes } }, database: database.url, logger })
    const ask = async (method: string, path: string, body?: JsonObject) => {
      const headers = { 'content-type': 'application/json' }
      const init = body ? { method, headers, body: JSON.stringify(body) } : { method }
      return service.fetch(new Request(`http://localhost${path}`, init))
    }

    for (const [index, [type, text]] of usable.entries()) {
      const name = `c${index}`
      await t.test(`${type}: ${text}`, async () => {
        for (const answer of [
          await ask('POST', '/thing', { [name]: text }),
          await ask('PATCH', '/thing/1', { [name]: text }),
        ]) {
          const problem = (await answer.json()) as JsonObject
          assert.equal(answer.status, 400, JSON.stringify(problem))
          const violation = { rule: 'type', message: 'is no value of the type of its column' }
          assert.deepEqual(problem.invalidAttributes, isNamed(type, text) ? { [name]: [violation] } : undefined)
          assert.doesNotMatch(String(problem.detail), internals)
        }
        for (const where of [text, { in: [text, 'y'] }, { '!=': text }, { '<': text }, { contains: text }]) {
          const answer = await ask('GET', `/thing?where=${encodeURIComponent(JSON.stringify({ [name]: where }))}`)
          const body = await answer.text()
          assert.ok(answer.status < 500, body)
          if (answer.status === 400) assert.doesNotMatch(body, internals)
        }
      })
    }
    assert.deepEqual(errors, [])
    assert.deepEqual(
      warned.filter((data) => (data as { kind: string }).kind === 'valueRefused'),
      usable.flatMap(([type, text], index) =>
        isNamed(type, text) ? [{ kind: 'valueRefused', model: 'thing', attribute: `c${index}` }] : [],
      ),
    )
  })
})

const isNamed = (type: string, text: string): boolean => refused.some(([t, x]) => t === type && x === text)

const hasExtension = (database: FreshDatabase, name: string): Promise<boolean> =>
  database.query(`create extension if not exists ${name}`).then(
    () => true,
    () => false,
  )
