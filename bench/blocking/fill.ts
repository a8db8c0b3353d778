import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { owners, petsOf, rows, wideNumbers } from './models.ts'

const note = `'The quick brown fox jumps over the lazy dog, and number ' || i || ' is the one that it has missed aaaaaaaaaaaaab'`
const ends = [
  petsOf.huge,
  ...[owners.large, ...owners.doomed].map((_, index) => petsOf.huge + petsOf.large * (index + 1)),
]
const ownerOf = `case ${ends.map((end, index) => `when i <= ${end} then ${index + 1}`).join(' ')} else 7 + i % (${rows.owner} - 6) end`

const columns = (letter: string): string => wideNumbers.map((i) => `, "${letter}${i}"`).join('')
const values = (value: (i: number) => string): string => wideNumbers.map((i) => `, ${value(i)}`).join('')

interface Sql {
  /** Selects `i` from 1 to a count. */
  readonly numbers: (count: number) => string
  /** A stored time. */
  readonly now: string
  readonly repeat: (text: string, count: number) => string
}

const inserts = ({ numbers, now, repeat }: Sql): readonly string[] => [
  `insert into owner (id, name, city, note, "createdAt", "updatedAt") select i, 'Owner ' || i, 'City ' || i % 50, ${note}, ${now}, ${now} from ${numbers(rows.owner)}`,
  `insert into pet (id, name, kind, note, age, owner, "createdAt", "updatedAt") select i, 'Pet ' || i, 'kind ' || i % 8, ${note}, i % 20, ${ownerOf}, ${now}, ${now} from ${numbers(rows.pet)}`,
  `insert into visit (id, status, note, cost, pet, "createdAt", "updatedAt") select i, 'status ' || i % 5, ${note}, i % 100, 1 + i % ${rows.pet}, ${now}, ${now} from ${numbers(rows.visit)}`,
  `insert into document (id, title, text, data, "createdAt", "updatedAt") select i, 'Document ' || i, ${repeat('é"word ', 1000)}, '[' || ${repeat('123,', 1300)} || '1]', ${now}, ${now} from ${numbers(rows.document)}`,
  `insert into wide (id${columns('n')}${columns('t')}${columns('d')}, "createdAt", "updatedAt") select i${values((n) => `i * 1.5 + ${n}`)}${values((n) => `'Text ' || i || '.${n}'`)}${values(() => now)}, ${now}, ${now} from ${numbers(rows.wide)}`,
]

/** The change triggers are dropped for the time of the inserts; the service installs them again. */
export function fillSqlite(path: string): void {
  const database = new DatabaseSync(path)
  const numbers = (count: number) =>
    `(with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count}) select i from n)`
  try {
    for (const { name } of database.prepare(`select name from sqlite_schema where type = 'trigger'`).all())
      database.exec(`drop trigger "${name}"`)
    database.exec('begin')
    const repeat = (text: string, count: number) => `replace(hex(zeroblob(${count})), '00', '${text}')`
    for (const statement of inserts({ numbers, now: `'2026-01-01T00:00:00.000Z'`, repeat })) database.exec(statement)
    database.exec('commit; pragma wal_checkpoint(truncate)')
  } finally {
    database.close()
  }
}

export async function fillPostgres(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    for (const table of Object.keys(rows)) await client.query(`alter table ${table} disable trigger all`)
    const numbers = (count: number) => `generate_series(1, ${count}) i`
    const repeat = (text: string, count: number) => `repeat('${text}', ${count})`
    for (const statement of inserts({ numbers, now: `'2026-01-01'::timestamptz`, repeat }))
      await client.query(statement.replace(`|| '1]'`, `|| '1]')::jsonb`).replace(`'[' ||`, `('[' ||`))
    for (const table of Object.keys(rows)) {
      await client.query(`alter table ${table} enable trigger all`)
      await client.query(`select setval(pg_get_serial_sequence('${table}', 'id'), max(id)) from ${table}`)
    }
    await client.query('vacuum analyze')
  } finally {
    await client.end()
  }
}
