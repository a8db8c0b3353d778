import type { Criteria } from '../criteria/criteria.ts'
import type { Association } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import { eventLoopTurn } from '../support/event-loop-turn.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import { ObjectCache } from '../support/object-cache.ts'
import type { CurrentRead, Row } from './driver.ts'
import { type Embedding, embeddingOf } from './embedding.ts'
import type { TextsOfSelection } from './record-texts.ts'
import { inOrder } from './related-order.ts'
import type { Encoders } from './sql-records.ts'
import type { StatementCompiler } from './statement-compiler.ts'
import { flat, readAtOnce, type TextSource } from './text-source.ts'

/**
 * Encoded texts of embedded records: for a to-one association the text of the record, which lists of its model share; for a
 * to-many association the text of the list. Missing texts are read by one statement, in the same state of the database as the
 * cached ones.
 */
export class EmbeddedTexts {
  readonly #source: TextSource
  readonly #compiler: StatementCompiler
  readonly #encoders: Encoders
  readonly #embeddings = new ObjectCache<Criteria, Embedding | 'none'>()

  constructor(source: TextSource, compiler: StatementCompiler, encoders: Encoders) {
    this.#source = source
    this.#compiler = compiler
    this.#encoders = encoders
  }

  /**
   * The text for each key, in the order of the keys. Undefined if there can be no texts for this association, or not now: the
   * caller reads the records instead.
   */
  read(
    association: Association,
    keys: readonly Json[],
    criteria: Criteria,
  ): MaybePromise<readonly string[] | undefined> {
    const { target } = association
    const embedding = this.#embeddingOf(association, criteria)
    if (embedding === 'none' || !this.#source.knowsRecords(target.table, target.primaryKey.column)) return undefined
    if (!embedding.share.isWorthKeeping()) return undefined
    const here = () => this.#here(embedding, keys)
    return eventLoopTurn.isUsed ? eventLoopTurn.next().then(here) : here()
  }

  #here(embedding: Embedding, keys: readonly Json[]): readonly string[] | undefined {
    const { association, selection, via, share } = embedding
    const { texts } = this.#source
    const found = this.#source.readCurrent((read) => {
      const kept = texts.of(selection, association.target.table, via)
      if (!kept) return undefined
      const found: string[] = []
      const missing: number[] = []
      for (let place = 0; place < keys.length; place++) {
        const text = texts.get(kept, keys[place] as number)
        if (text === undefined) missing.push(place)
        found.push(text === undefined ? 'null' : via === undefined ? `${text}}` : text)
      }
      if (missing.length > 0) this.#readMissing(missing, keys, found, kept, embedding, read)
      share.learn(keys.length, keys.length - missing.length)
      return found
    })
    if (!found) share.forget()
    return found
  }

  /** Reads what is embedded for the keys at these places, and adds its texts to `found`. */
  #readMissing(
    places: readonly number[],
    keys: readonly Json[],
    found: string[],
    kept: TextsOfSelection,
    { association, criteria, encoder, via, at }: Embedding,
    read: CurrentRead,
  ): void {
    const asked = places.map((place) => keys[place] as Json)
    const statement = this.#compiler.related(association, asked, criteria)
    const rows = inOrder(read(statement, readAtOnce()), association, criteria, this.#encoders.dialect)
    const number = encoder.stored.length
    let next = 0
    for (let group = 0; group < places.length; group++) {
      const [place, key] = [places[group] as number, asked[group]]
      const first = next
      let text = ''
      for (; Number(rows[next]?.[number]) === group + 1; next++) {
        const row = rows[next] as Row
        text += next === first ? encoder.encodeOpen(row) : `},${encoder.encodeOpen(row)}`
        if (via !== undefined) kept.greatest = Math.max(kept.greatest, row[at] as number)
      }
      const isEmpty = next === first
      if (via !== undefined) text = isEmpty ? '[]' : `[${text}}]`
      else if (isEmpty) continue
      if (Number.isSafeInteger(key)) this.#source.texts.set(kept, key as number, flat(text))
      found[place] = via === undefined ? `${text}}` : text
    }
  }

  #embeddingOf(association: Association, criteria: Criteria): Embedding | 'none' {
    let embedding = this.#embeddings.get(criteria)
    if (embedding === undefined || (embedding !== 'none' && embedding.association !== association)) {
      embedding = embeddingOf(association, criteria, this.#encoders) ?? 'none'
      this.#embeddings.set(criteria, embedding)
    }
    return embedding
  }
}
