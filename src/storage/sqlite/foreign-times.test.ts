import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SqliteForTest } from '../../../test/support/sqlite.ts'
import type { JsonObject } from '../../protocol/json.ts'

describe('a time that another program has stored is compared as it is answered', () => {
  for (const [stored, answered] of [
    ['2026-11-28 09:00:05.123999', '2026-11-28T09:00:05.123Z'],
    ['2026-11-28 09:00:59.999999', '2026-11-28T09:00:59.999Z'],
    ['2026-11-28T23:30:00.9996+02:00', '2026-11-28T21:30:00.999Z'],
    ['2026-11-28 09:00:00.123456789 +00:00', '2026-11-28T09:00:00.123Z'],
    ['2026-11-28 09:00:00.12-01:00', '2026-11-28T10:00:00.120Z'],
    ['2026-11-28 09:00:00.1', '2026-11-28T09:00:00.100Z'],
    ['2026-11-28 09:00:00Z', '2026-11-28T09:00:00.000Z'],
    ['2026-11-28 09:00', '2026-11-28T09:00:00.000Z'],
    ['2026-11-28', '2026-11-28T00:00:00.000Z'],
  ] as const)
    test(stored, async () => {
      await using sqlite = await SqliteForTest.open(
        { visit: { attributes: { at: { type: 'datetime', columnType: 'datetime' } } } },
        {
          before: `create table visit (id integer primary key, at datetime); insert into visit values (1, '${stored}')`,
        },
      )
      for (const where of [{ at: answered }, { at: { '>=': answered, '<=': answered } }, { at: { in: [answered] } }]) {
        const { body } = await sqlite.ask('GET', `/visit?where=${encodeURIComponent(JSON.stringify(where))}`)
        assert.deepEqual(body, [{ id: 1, at: answered }] satisfies JsonObject[])
      }
    })
})
