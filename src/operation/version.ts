import { hash } from 'node:crypto'
import { lockByPrimaryKey } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { ScopedReads } from '../storage/scoped-store.ts'
import type { Records } from '../storage/store.ts'
import { fingerprintLength } from '../support/fingerprint.ts'
import type { KeyedHash } from '../support/keyed-hash.ts'
import { SipHash } from '../support/sip-hash.ts'
import type { OperationServices, Precondition } from './operation.ts'

/** Tells texts apart. Not a secret: two different records must not get the same, and that is all. */
export const fingerprint = (text: string): string => hash('sha1', text, 'base64url').slice(0, fingerprintLength)

/** The hash of the text of a record: as `fingerprint`, or with a secret, where all processes that serve the database have the same. */
export class VersionHash {
  readonly #keyed: SipHash | undefined

  constructor(secret?: string | undefined) {
    this.#keyed = secret === undefined ? undefined : new SipHash(`records ${secret}`)
  }

  /** For a long text, SHA-1 takes as much time as SipHash. */
  of(text: string): string {
    return this.#keyed?.of(text) ?? fingerprint(text)
  }
}

/** What tags are made with. */
export interface TagHashes {
  readonly list: KeyedHash
  readonly record: VersionHash
}

/**
 * `"version-body"`: a hash of the stored record and one of an answer's body. `If-Match` compares the version,
 * `If-None-Match` the whole tag; `whole` is the fingerprint of the body. Records of which only some attributes were read
 * have no version.
 */
export function entityTag(whole: string, stored: Records | undefined, records: Records, versions: VersionHash): string {
  if (stored === undefined) return `"-${whole}"`
  return stored === records ? `"${whole}-${whole}"` : `"${versionOf(stored, versions)}-${whole}"`
}

/** A list has no version: it is no precondition of a write. */
export const listTag = (whole: string): string => `"-${whole}"`

/** The version of a record: it differs whenever any stored value differs. */
const versionOf = (stored: Records, versions: VersionHash): string => versions.of(stored.encodeAt(0))

/**
 * Throws E_PRECONDITION_FAILED when the record exists and is in none of the versions; it is locked until the transaction ends. A
 * record that does not exist is left to the write to report.
 */
export async function requireVersion(
  model: Model,
  id: Json,
  versions: Precondition | undefined,
  transaction: ScopedReads,
  { versionHash }: Pick<OperationServices, 'versionHash'>,
): Promise<void> {
  if (versions === undefined) return
  const stored = await transaction.find(model, lockByPrimaryKey(model, id))
  if (stored.length === 0 || versions === '*') return
  if (versions !== 'none' && versions.includes(versionOf(stored, versionHash))) return
  throw new ServiceError('E_PRECONDITION_FAILED', problemWith(versions, model), { model: model.name })
}

function problemWith(versions: readonly string[] | 'none', { name }: Model): string {
  if (versions === 'none') return `The ${name} exists`
  // What is no tag of a whole record is read as an empty version.
  if (versions.some((version) => version !== '')) return `The ${name} was changed since it was read`
  return `If-Match names no version of the ${name}: a list, an answer with "select" or "omit", and a weak tag have none`
}
