import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { openWith, pets, problemsOf } from '../../../../test/support/schema-databases.ts'
import { newFile } from '../../../../test/support/sqlite.ts'
import { describeDatabase } from '../../stores.ts'

/** As a program makes it that defines functions, collations and modules. */
function madeBy(program: string): string {
  const path = newFile()
  const database = new DatabaseSync(path, { defensive: false })
  database.function('other', { deterministic: true }, (value) => value)
  database.exec(program)
  database.close()
  return `sqlite:${path}`
}

/** SQLite makes no table with a collation or a module that it does not have. */
const rewritten = (from: string, to: string) =>
  `pragma writable_schema = on; update sqlite_schema set sql = replace(sql, '${from}', '${to}')`

const text = { type: 'string' } as const

test('a virtual table is refused, and one whose module SQLite does not have prevents no start', async () => {
  const url = madeBy(`create table toy (id integer primary key); create virtual table pet using fts5(name);
    ${rewritten('fts5', 'other')}`)
  assert.deepEqual(await problemsOf(url, pets({ name: text })), [
    'pet: "pet" is a virtual table; on SQLite only ordinary tables are served',
  ])
  assert.deepEqual(await problemsOf(url, { toy: {} }), [])
  assert.match((await describeDatabase(url)).leftOut.get('pet') ?? '', /^a virtual table/)
})

test('a column in a collation that SQLite does not have is refused, and prevents no start as one without an attribute', async () => {
  const url = madeBy(`create table pet (id integer primary key, name text collate nocase, kind text);
    create table tag (code text collate nocase primary key);
    create table sorted (code text collate nocase primary key, label text) without rowid; ${rewritten('nocase', 'german')}`)
  const problem = 'has the collation "german", which another program defines'
  assert.deepEqual(await problemsOf(url, pets({ name: text })), [
    `pet.name: the column "name" ${problem}. Leave the attribute out`,
  ])
  const { warnings, store } = await openWith(url, pets({ kind: text }))
  await store[Symbol.asyncDispose]()
  assert.deepEqual(warnings, [])
  const { tables, leftOut, unservedReason } = await describeDatabase(url)
  const name = tables.get('pet')?.columns.get('name')
  assert.equal(name && unservedReason(name), `it ${problem}`)
  assert.equal(leftOut.get('tag'), `its key "code" ${problem}`)
  const sorted = { primaryKey: 'code', attributes: { code: { ...text, required: true }, label: text } } as const
  assert.deepEqual(await problemsOf(url, { sorted }), [
    `sorted.code: the column "code" ${problem}. Leave the attribute out`,
    'sorted.label: the column "label" is in a table that a collation of another program sorts. Leave the attribute out',
  ])
})

for (const [what, column] of [
  ['a check', 'check (other(name))'],
  ['a computed column', ', size text as (other(name))'],
] as const)
  test(`${what} with a function of another program is a warning that names the cause`, async () => {
    const url = madeBy(`create table pet (id integer primary key, name text ${column})`)
    const { warnings, store } = await openWith(url, pets({ name: text }))
    await store[Symbol.asyncDispose]()
    assert.deepEqual(warnings, [
      `pet: SQLite refuses writes of the table "pet", because of an expression in its definition: unknown function: other()`,
    ])
  })
