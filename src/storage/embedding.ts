import { type Criteria, isMatchAll } from '../criteria/criteria.ts'
import { storedSelection } from '../criteria/stored-selection.ts'
import { type Association, originalOf } from '../model/model.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import type { Encoder } from './encoder.ts'
import { imageAttributes } from './image-record.ts'
import { KnownShare } from './known-share.ts'
import { isMasked } from './masked-source.ts'
import type { Encoders } from './sql-records.ts'

/** How the texts of one association are found in the cache. */
export interface Embedding {
  readonly association: Association
  readonly criteria: Criteria
  readonly encoder: Encoder
  /**
   * The key in `RecordTexts`: the encoder, which pages of the model use as well, or an object for the lists of a to-many
   * association.
   */
  readonly selection: object
  /** For a to-many association, the column that refers to the record that a list is embedded in. */
  readonly via: string | undefined
  /** Where the key is in a row. */
  readonly at: number
  readonly share: KnownShare
}

/** By the encoder of their records, then by column and length. */
const lists = new WeakMap<Encoder, Map<string, object>>()

/**
 * Undefined if the texts cannot be cached. A list is cached only if it depends on nothing but its records, whose foreign keys the
 * change log contains. A computed attribute may depend on anything.
 */
export function embeddingOf(association: Association, criteria: Criteria, encoders: Encoders): Embedding | undefined {
  const { kind, target } = association
  const { select, where, skip, limit, sort } = criteria
  const { primaryKey } = target
  if (kind === 'manyToMany' || !isMatchAll(where) || isMasked(criteria)) return undefined
  if (storedSelection(select) !== select || target.key.length > 1 || encoders.dialect.decode(primaryKey, 1) !== 1)
    return undefined
  const encoder = encoders.of(select)
  const at = select.indexOf(primaryKey)
  const embedding = { association, criteria, encoder, at, share: new KnownShare() }
  if (kind === 'belongsTo') return { ...embedding, selection: encoder, via: undefined }
  const { column } = association.via
  const isTold = /^\w+$/.test(column) && imageAttributes(originalOf(target)).some((known) => known.column === column)
  const isInKeyOrder = sort.every((item) => item.attribute === primaryKey && !item.through && item.direction === 'asc')
  if (at < 0 || skip > 0 || !isInKeyOrder || !isTold) return undefined
  const ofEncoder = getOrInsertComputed(lists, encoder, () => new Map<string, object>())
  return { ...embedding, selection: getOrInsertComputed(ofEncoder, `${column} ${limit}`, () => ({})), via: column }
}
