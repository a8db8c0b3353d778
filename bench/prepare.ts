import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { Child } from './child.ts'
import { storedTables } from './data.ts'

/** The compared servers: hand-written on tables without and with the triggers of the log, and Keelson. */
export const variants = ['without', 'with', 'keelson'] as const
export type Variant = (typeof variants)[number]

/** One database for each server, equal but for the triggers; dropped on disposal. */
export interface Databases extends AsyncDisposable {
  readonly urls: Readonly<Record<Variant, string>>
}

type Value = string | number | boolean | null

interface StoredTable {
  readonly table: string
  /** Names in quotes. */
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Value[])[]
}

/** Values as every one of the databases takes them: JSON as text. */
function* tables(): Generator<StoredTable> {
  for (const { table, rows } of storedTables) {
    const records = [...rows()]
    yield {
      table,
      columns: Object.keys(records[0] ?? {}).map((name) => `"${name}"`),
      rows: records.map((record) =>
        Object.values(record).map((value) =>
          typeof value === 'object' && value !== null ? JSON.stringify(value) : value,
        ),
      ),
    }
  }
}

/** Keelson creates the tables, so that all servers have the same. */
async function makeTables(database: string): Promise<void> {
  await using _keelson = await Child.start(0, [], join(import.meta.dirname, 'keelson-server.ts'), [database])
}

/** Indexes for the measured queries; without them, only the database would be measured. */
const indexes = [
  'create index "pet_kind_age" on "pet" ("kind", "age" desc, "id")',
  'create index "patient_age" on "patient" ("age", "id")',
  'create index "owner_city" on "owner" ("city")',
].join('; ')

export async function prepareSqlite(): Promise<Databases> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'))
  await using undo = new AsyncDisposableStack()
  undo.defer(() => rmSync(folder, { recursive: true }))
  const file = (variant: Variant): string => join(folder, `${variant}.db`)
  await makeTables(`sqlite:${file('keelson')}`)

  const database = new DatabaseSync(file('keelson'))
  database.exec('begin')
  for (const { table, columns, rows } of tables()) {
    const marks = columns.map(() => '?').join(', ')
    const insert = database.prepare(`insert into "${table}" (${columns.join(', ')}) values (${marks})`)
    for (const row of rows) insert.run(...row.map((value) => (typeof value === 'boolean' ? Number(value) : value)))
  }
  database.exec(`${indexes}; commit; analyze; pragma wal_checkpoint(truncate)`)
  database.close()

  copyFileSync(file('keelson'), file('with'))
  copyFileSync(file('keelson'), file('without'))
  const bare = new DatabaseSync(file('without'))
  for (const { name } of bare.prepare(`select name from sqlite_schema where type = 'trigger'`).all()) {
    bare.exec(`drop trigger "${name}"`)
  }
  bare.close()

  const made = undo.move()
  return {
    urls: {
      without: `sqlite:${file('without')}`,
      with: `sqlite:${file('with')}`,
      keelson: `sqlite:${file('keelson')}`,
    },
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  }
}

const rowsPerInsert = 500

export async function preparePostgres(server: string): Promise<Databases> {
  const nameOf = (variant: Variant): string => `keelson_bench_${process.pid}_${variant}`
  const urlOf = (variant: Variant): string => Object.assign(new URL(server), { pathname: `/${nameOf(variant)}` }).href
  await using undo = new AsyncDisposableStack()
  undo.defer(() =>
    inPostgres(server, async (admin) => {
      for (const variant of variants) await admin.query(`drop database if exists ${nameOf(variant)} with (force)`)
    }),
  )
  await inPostgres(server, async (admin) => void (await admin.query(`create database ${nameOf('keelson')}`)))
  await makeTables(urlOf('keelson'))
  await inPostgres(urlOf('keelson'), fillPostgres)
  await inPostgres(server, async (admin) => {
    for (const variant of ['with', 'without'] as const) {
      await admin.query(`create database ${nameOf(variant)} template ${nameOf('keelson')}`)
    }
  })
  await inPostgres(urlOf('without'), async (client) => {
    const { rows } = await client.query(
      'select tgname, relname from pg_trigger join pg_class on pg_class.oid = tgrelid where relname = any($1) and not tgisinternal',
      [storedTables.map(({ table }) => table)],
    )
    for (const { tgname, relname } of rows)
      await client.query(`drop trigger ${client.escapeIdentifier(tgname)} on "${relname}"`)
  })
  const made = undo.move()
  return {
    urls: { without: urlOf('without'), with: urlOf('with'), keelson: urlOf('keelson') },
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  }
}

async function fillPostgres(client: Client): Promise<void> {
  for (const { table, columns, rows } of tables()) {
    for (let from = 0; from < rows.length; from += rowsPerInsert) {
      const some = rows.slice(from, from + rowsPerInsert)
      const marks = some.map(
        (_, row) => `(${columns.map((_, column) => `$${row * columns.length + column + 1}`).join(', ')})`,
      )
      await client.query(`insert into "${table}" (${columns.join(', ')}) values ${marks.join(', ')}`, some.flat())
    }
  }
  await client.query(indexes)
  await client.query('vacuum analyze')
}

export async function inPostgres(connectionString: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
