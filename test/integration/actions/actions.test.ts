import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../../src/index.ts'
import { databases } from '../../support/databases.ts'
import { type Case, cases } from './cases.ts'
import { initialStock, ServedShop, type Transport, transports } from './served-shop.ts'
import type { Answer } from './shop.ts'

/* What actions answer and change: the table in `cases.ts`, over every database and transport. */

for (const kind of databases) {
  describe(`actions over ${kind.name}`, { skip: kind.missing ?? false }, () => {
    const served = new ServedShop(kind)
    for (const item of cases) {
      for (const transport of transports) {
        if (item.only !== undefined && item.only !== transport) continue
        test(`${transport}: ${item.what}`, () => check(served, transport, item))
      }
    }
  })
}

async function check(served: ServedShop, transport: Transport, item: Case): Promise<void> {
  const answer = await served.send(transport)(item.user ?? 'bob', item.method ?? 'POST', item.path, item.body)
  assert.equal(answer.status, item.status, JSON.stringify(answer.body))
  if (item.code !== undefined) assert.equal(answer.body.code, item.code)
  if (item.answers !== undefined) assertContains(answer, item.answers)
  assert.deepEqual(await served.stock(), item.stock ?? initialStock)
  assert.equal(await served.records.sale.count(), item.sales ?? 0)
  assert.equal(served.errors.length, item.reports ? 1 : 0, String(served.errors[0]))
  if (item.reports) assert.match(String(served.errors[0]), item.reports)
}

/** The members that are expected, and others. */
function assertContains({ body }: Answer, expected: Json): void {
  const isPartial = typeof expected === 'object' && expected !== null && !Array.isArray(expected)
  if (!isPartial) assert.deepEqual(body === '' ? null : body, expected)
  else for (const [name, value] of Object.entries(expected)) assert.deepEqual(body[name], value, name)
}
