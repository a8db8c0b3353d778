import { hash, timingSafeEqual } from 'node:crypto'
import type { Sort } from '../criteria/criteria.ts'
import { nameOf } from '../criteria/parse-sort.ts'
import type { Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'

/**
 * Where a page begins, for a client to bring back: the values that the last record was sorted by, sealed together with
 * the model and the order, so that nothing but what we gave out ever reaches a statement.
 */
export function sealCursor(values: readonly unknown[], model: Model, sort: readonly Sort[], secret: string): string {
  const text = JSON.stringify(values, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  return `${Buffer.from(text).toString('base64url')}.${seal(text, model, sort, secret)}`
}

/** Throws E_BAD_CRITERIA when it is not a cursor of ours for this model in this order. */
export function openCursor(raw: Json, model: Model, sort: readonly Sort[], secret: string): readonly unknown[] {
  const [payload = '', given = ''] = typeof raw === 'string' ? raw.split('.') : []
  const text = Buffer.from(payload, 'base64url').toString()
  const expected = Buffer.from(seal(text, model, sort, secret))
  const got = Buffer.from(given)
  if (got.length !== expected.length || !timingSafeEqual(got, expected)) {
    throw new ServiceError('E_BAD_CRITERIA', '"cursor" is not one that was given for this model in this order')
  }
  return JSON.parse(text)
}

function seal(text: string, model: Model, sort: readonly Sort[], secret: string): string {
  const order = sort.map((item) => `${nameOf(item)} ${item.direction}`).join()
  // A keyed hash in two rounds, as HMAC is, in a fifth of the time that a Hmac object takes to be made.
  const inner = hash('sha256', `${secret}\n${model.name}\n${order}\n${text}`, 'base64url')
  return hash('sha256', `${secret}\n${inner}`, 'base64url').slice(0, 22)
}
