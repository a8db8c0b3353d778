import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineModels } from '../model/define.ts'
import type { Model } from '../model/model.ts'
import type { Row } from './driver.ts'
import { Encoders, SqlRecords } from './sql-records.ts'
import { sqliteDialect } from './sqlite/dialect.ts'
import { encodeList } from './store.ts'

const attributes = { name: { type: 'string' }, note: { type: 'string' }, tags: { type: 'json' } } as const
const pet = defineModels({ pet: { attributes } }, { createdAt: false }).get('pet') as Model
const selection = [...pet.attributes.values()]
const encoders = new Encoders(sqliteDialect)

const time = '2025-06-15T15:06:41.000Z'
const plain = (id: number): Row =>
  selection.map(({ name }) => ({ id, tags: '["a\\n"]', updatedAt: time })[name] ?? 'Rex')

const texts: readonly [string, unknown][] = [
  ['nothing unusual', 'Rex'],
  ['nothing', ''],
  ['null', null],
  ['a quotation mark', 'R"x'],
  ['a backslash', 'R\\'],
  ['a line break', 'R\nx'],
  ['a zero byte', '\0'],
  ['the last control character', '\x1f'],
  ['a deletion', '\x7f'],
  ['Latin-1', 'Malmö'],
  ['a line separator', '\u2028'],
  ['other scripts', '京都 🐕'],
  ['half a character', '\ud83d'],
  ['half a character among others', '京\udc15'],
  ['a long text', 'long '.repeat(20_000)],
  ['a long text with a quotation mark at its end', `${'long '.repeat(20_000)}"`],
  ['a number', 4.5],
  ['a large number', 2n ** 60n],
  ['bytes', new Uint8Array([34, 92])],
]

test('lists are the same texts as their records one by one, whatever other records hold', () => {
  for (const [title, text] of texts)
    for (const name of ['name', 'updatedAt'])
      for (const place of [0, 1, 63, 64, 129]) {
        const rows = Array.from({ length: 130 }, (_, index) => plain(index + 1))
        rows[place] = selection.map((attribute, at) => (attribute.name === name ? text : rows[place]?.[at]))
        const alone = rows.map((row) => new SqlRecords([row], selection, encoders).encodeAt(0))
        const list = encodeList(new SqlRecords(rows, selection, encoders))
        assert.equal(list, `[${alone.join()}]`, `${title} in ${name} of record ${place}`)
        const records = new SqlRecords(rows, selection, encoders).decode()
        assert.deepEqual(JSON.parse(list), records, `${title} in ${name} of record ${place}`)
      }
})
