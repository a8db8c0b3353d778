import { hash, timingSafeEqual } from 'node:crypto'
import type { Criteria, Sort } from '../criteria/criteria.ts'
import { nameOf } from '../criteria/parse-sort.ts'
import type { Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import { isJsonObject, type Json } from '../protocol/json.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import { isBytes } from '../support/is-bytes.ts'
import { SipHash } from '../support/sip-hash.ts'

/** Seals what cursors begin with. */
export class CursorSeal {
  readonly #secret: string
  readonly #keyed: SipHash

  constructor(secret: string) {
    this.#secret = secret
    this.#keyed = new SipHash(`cursors ${secret}`)
  }

  of(text: string): string {
    // One round: the hash cannot be continued with more text without the part that is cut off.
    return this.#keyed.of(text) ?? hash('sha256', `${this.#secret}\n${text}`, 'base64url').slice(0, 22)
  }
}

/** In bytes. A cursor is sent in a header and in an address, of which clients and proxies take some kilobytes. */
const longestText = 1_500

/** Where a page begins: after the values of a record, and so many further records. */
type Place = Pick<Criteria, 'after' | 'skip'>

/**
 * Where the page after this one begins, for a client to bring back: the values that the last record was sorted by, sealed
 * together with the model and the order, so that nothing but what we gave out ever reaches a statement. Where these are too
 * long, the next page begins as this one does, and skips it.
 */
export function encodeCursor(
  values: readonly unknown[],
  model: Model,
  { sort, after, skip, limit }: Criteria,
  seal: CursorSeal,
): string {
  const exact = textOfValues(values)
  const text = Buffer.byteLength(exact) <= longestText ? exact : textOfPlace({ after, skip: skip + limit })
  return `${Buffer.from(text).toString('base64url')}.${seal.of(sealed(text, model, sort))}`
}

const textOfValues = (values: readonly unknown[]): string =>
  JSON.stringify(values.every(isJson) ? values : values.map(toJson))

const textOfPlace = ({ after, skip }: Place): string =>
  `{"skip":${skip},"after":${after ? textOfValues(after) : 'null'}}`

const isJson = (value: unknown): boolean =>
  typeof value === 'string' || value === null || Number.isFinite(value) || typeof value === 'boolean'

/** Other programs may have stored infinite numbers, and bytes and integers in a column of texts. */
function toJson(value: unknown): Json {
  if (isBytes(value)) return { bytes: Buffer.from(value).toString('base64') }
  if (typeof value === 'number' && !Number.isFinite(value)) return { number: String(value) }
  // Not as text, which a column without a type sorts behind all numbers.
  return typeof value === 'bigint' ? { integer: String(value) } : (value as Json)
}

function fromJson(value: Json): unknown {
  if (!isJsonObject(value)) return value
  if (typeof value.integer === 'string') return BigInt(value.integer)
  return typeof value.bytes === 'string' ? new Uint8Array(Buffer.from(value.bytes, 'base64')) : Number(value.number)
}

/** Throws E_BAD_CRITERIA when it is not a cursor of ours for this model in this order. */
export function decodeCursor(raw: Json, model: Model, sort: readonly Sort[], seal: CursorSeal): Place {
  const [payload = '', given = ''] = typeof raw === 'string' ? raw.split('.', 2) : []
  const text = Buffer.from(payload, 'base64url').toString()
  const expected = Buffer.from(seal.of(sealed(text, model, sort)))
  const got = Buffer.from(given)
  if (got.length !== expected.length || !timingSafeEqual(got, expected)) {
    throw new ServiceError('E_BAD_CRITERIA', '"cursor" is not from a response for this model in this order')
  }
  const place = JSON.parse(text) as Json[] | { readonly after: Json[] | null; readonly skip: number }
  if (Array.isArray(place)) return { after: place.map(fromJson), skip: 0 }
  return { after: place.after?.map(fromJson), skip: place.skip }
}

const sealed = (text: string, model: Model, sort: readonly Sort[]): string => `${model.name}\n${textOf(sort)}\n${text}`

const texts = new WeakMap<readonly Sort[], string>()

const textOf = (sort: readonly Sort[]): string =>
  getOrInsertComputed(texts, sort, () => sort.map((item) => `${nameOf(item)} ${item.direction}`).join())
