import type { DatabaseSync } from 'node:sqlite'
import type { Random } from '../../support/random.ts'

const timeless = { createdAt: false, updatedAt: false } as const

export const models = {
  owner: { attributes: { ...timeless, name: { type: 'string' }, things: { collection: 'thing', via: 'owner' } } },
  thing: {
    attributes: {
      ...timeless,
      label: { type: 'string' },
      count: { type: 'number', isInteger: true },
      size: { type: 'number', access: { read: ({ user }: Any) => user.sees !== 'some' || { count: { '>': 2 } } } },
      big: { type: 'bigint' },
      isNew: { type: 'boolean' },
      data: { type: 'json' },
      at: { type: 'datetime' },
      uuid: { type: 'string', isUUID: true },
      bytes: { type: 'binary' },
      other: { type: 'string', columnName: 'a "name"' },
      owner: { model: 'owner' },
    },
    access: { read: ({ user }: Any) => user.sees !== 'some' || { owner: { name: { '!=': 'b' } } }, update: true },
  },
} as const

// biome-ignore lint/suspicious/noExplicitAny: no types of records are needed
export type Any = any

const long = 'é"😀\u2028'.repeat(9_000)

/** For each column, as SQL: also what other programs may have stored in it. Bytes only where nothing is sorted by them. */
const values: Readonly<Record<string, readonly string[]>> = {
  label: ["''", "'a'", "'é'", "'😀 \u2028 \u2029'", '\'"q" \\ \'', "'\u0001\u007f'", "'x' || char(0) || 'y'", '5'],
  count: ['1', '2', '3', '-7', '1.5', '9007199254740993', "'no'"],
  size: ['0.1', '1e300', '9e999', '-0.0', '12', "'no'"],
  big: ['1', '-9223372036854775808', '9007199254740993'],
  isNew: ['0', '1', '2', "'t'"],
  data: [`'{"a": 1, "a": [2.0]}'`, "'[ 1e2 ]'", `'"\u2028\\u2029"'`, "'null'", "'{}'"],
  at: ["'2020-01-02T03:04:05.006Z'", "'2020-01-02 03:04'", '1577934245006', "'no'"],
  uuid: ["'5e6b1d5c-7f1c-4c7e-9a35-0d8f5a4f5f10'", "'no'"],
  bytes: ["x'00ff10'", "'text'", "x''"],
  'a "name"': ["'a'", "x'ff41'", "'b' || char(0)"],
  owner: ['1', '2', '3'],
}

export function fill(sql: DatabaseSync, random: Random, count: number): void {
  sql.exec("pragma busy_timeout = 5000; begin; insert into owner (name) values ('a'), ('b'), ('c')")
  const names = Object.keys(values)
  for (let id = 1; id <= count; id++) {
    const row = names.map((name) => (random.chance(0.15) ? 'null' : random.pick(values[name] as readonly string[])))
    if (random.chance(0.03)) row[0] = `'${long}'`
    sql.exec(`insert into thing (${names.map((name) => `"${name.replaceAll('"', '""')}"`)}) values (${row})`)
  }
  sql.exec('commit')
}

const wheres = [
  {},
  { count: { '>': 1 } },
  { label: { '!=': 'a' } },
  { owner: { name: 'a' } },
  { or: [{ isNew: true }, { size: null }] },
  { label: 'none' },
]
const sorts = ['id', 'id DESC', 'label', 'count DESC', 'size', 'big DESC', 'at', 'owner.name', 'isNew,label DESC']
const selects = ['label', 'count,size', 'data,at,bytes', 'owner', 'other', 'id']
const populates = ['false', 'false', 'false', 'owner']

/** The query string of a list. */
export function randomQuery(random: Random): string {
  const parts = [
    `where=${encodeURIComponent(JSON.stringify(random.pick(wheres)))}`,
    `limit=${random.pick([1, 3, 30, 250, 1000])}`,
    `populate=${random.pick(populates)}`,
    ...(random.chance(0.7) ? [`sort=${encodeURIComponent(random.pick(sorts))}`] : []),
    ...(random.chance(0.3) ? [`skip=${random.below(20)}`] : []),
    ...(random.chance(0.3) ? [`select=${encodeURIComponent(random.pick(selects))}`] : []),
    ...(random.chance(0.2) ? ['count=true'] : []),
    ...(random.chance(0.2) ? ['callback=f'] : []),
  ]
  return parts.join('&')
}
