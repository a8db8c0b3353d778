import assert from 'node:assert/strict'
import type { Change } from '../../src/protocol/change.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import type { ChangeBatch } from '../../src/storage/change-log.ts'
import type { SqliteForTest } from './sqlite.ts'

export const models = {
  owner: { attributes: { name: { type: 'string' } } },
  pet: { attributes: { name: { type: 'string' }, owner: { model: 'owner' } } },
} as const

/** One line for each change: `pet 1 created`. */
export const summarize = (changes: readonly Change[]) => changes.map(({ model, verb, id }) => `${model} ${id} ${verb}`)

export const batchOf = (batch: ChangeBatch | 'reset'): ChangeBatch => {
  assert.ok(batch !== 'reset')
  return batch
}

/** A write with an origin, or without one. */
export async function write(
  sqlite: SqliteForTest,
  method: string,
  path: string,
  body: JsonObject | undefined,
  origin?: string,
  query = '',
) {
  const peer = origin === undefined ? undefined : { id: origin, mirror: false, send: () => true, reset: () => {} }
  const { status } = await sqlite.service.handle({ method, path, query, body, headers: {}, site: 'none', peer })
  assert.ok(status < 300, `${method} ${path}: ${status}`)
}
