import { createHash, hash } from 'node:crypto'
import { lockByPrimaryKey } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { ScopedReads } from '../storage/scoped-store.ts'
import type { Records } from '../storage/store.ts'
import { fingerprintLength } from '../support/fingerprint.ts'
import type { KeyedHash } from '../support/keyed-hash.ts'
import { longestSipText, openSip, type Sip, sipBytes, sipKeyBytes } from '../support/sip-hash.ts'
import type { OperationServices, Precondition } from './operation.ts'

/** Tells texts apart. Not a secret: two different records must not get the same, and that is all. */
export const fingerprint = (text: string): string => hash('sha1', text, 'base64url').slice(0, fingerprintLength)

/** In UTF-16; of a longer text SHA-1 takes as much time. */
const longestSealed = Math.floor(longestSipText / 3)

/** The hash of the text of a record: as `fingerprint`, or with a secret, where all processes that serve the database have the same. */
export class VersionHash {
  readonly #sip: Sip | undefined

  constructor(secret?: string | undefined) {
    if (secret === undefined) return
    const key = createHash('sha256').update(`records ${secret}`).digest()
    this.#sip = openSip(key.subarray(0, sipKeyBytes))
  }

  of(text: string): string {
    const sip = this.#sip
    if (sip === undefined || text.length > longestSealed) return fingerprint(text)
    sip.run(sip.memory.write(text, sip.textAt))
    return sip.memory.toString('base64url', 0, sipBytes)
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
  const problem = versions === 'none' ? 'exists' : 'was changed since it was read'
  throw new ServiceError('E_PRECONDITION_FAILED', `The ${model.name} ${problem}`, { model: model.name })
}
