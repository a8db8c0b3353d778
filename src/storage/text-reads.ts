import type { Criteria, Selection } from '../criteria/criteria.ts'
import { idIn } from '../criteria/criteria.ts'
import { FilledCriteria, templateOf } from '../criteria/criteria-template.ts'
import { storedSelection } from '../criteria/stored-selection.ts'
import type { Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import { chunksOf } from '../support/chunks-of.ts'
import { eventLoopTurn } from '../support/event-loop-turn.ts'
import { Lru } from '../support/lru.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import { ObjectCache } from '../support/object-cache.ts'
import type { CurrentRead, Row } from './driver.ts'
import type { Encoder } from './encoder.ts'
import { KnownShare } from './known-share.ts'
import { isMasked } from './masked-source.ts'
import type { TextsOfSelection } from './record-texts.ts'
import { type Encoders, encodersOfTexts, pageOf, type RecordEncoders } from './sql-records.ts'
import type { FindStatement, StatementCompiler } from './statement-compiler.ts'
import type { ReadOptions, Records } from './store.ts'
import { flat, readAtOnce, type TextSource } from './text-source.ts'

const keptStatements = 1000
/** Keys are selected first where so many of the records of a statement were known: otherwise one statement takes less time. */
const mostKnown = 0.75

type Execute = (statement: FindStatement, result: (rows: readonly Row[]) => Records) => MaybePromise<Records>

/** What the texts of a selection are found by. */
interface Keys {
  readonly table: string
  /** Where the key is in a row of the whole selection. */
  readonly at: number
  /** The key, and the foreign keys that embedding needs. */
  readonly select: Selection
  readonly encoders: RecordEncoders
  /** Finds records of the whole selection by their keys. */
  readonly byKey: Criteria
}

/** A page that is read, and what its texts are found by. */
interface TextPage {
  readonly model: Model
  readonly criteria: Criteria
  readonly keys: Keys
  readonly encoder: Encoder
  /** How many of the records of pages with this statement had a text. */
  readonly known: KnownShare
}

/**
 * Pages of records that are encoded and nothing else. Where the texts of most of them are kept, a page is a statement that selects
 * keys, and one for the records without a text; both read one state of the database.
 */
export class TextReads {
  readonly #source: TextSource
  readonly #compiler: StatementCompiler
  readonly #encoders: Encoders
  readonly #known = new Lru<string, KnownShare>(keptStatements)
  readonly #keys = new WeakMap<Selection, Keys | 'none'>()
  readonly #keyCriteria = new ObjectCache<Criteria, Criteria>()

  constructor(source: TextSource, compiler: StatementCompiler, encoders: Encoders) {
    this.#source = source
    this.#compiler = compiler
    this.#encoders = encoders
  }

  /** Undefined if the texts of these records cannot be cached. `members`: the names of what is embedded in them. */
  find(
    model: Model,
    criteria: Criteria,
    members: readonly string[],
    options: ReadOptions | undefined,
    execute: Execute,
  ): MaybePromise<Records> | undefined {
    const { select } = criteria
    const keys = this.#keysOf(model, select)
    if (keys === 'none' || criteria.sort.length === 0 || isMasked(criteria)) return undefined
    if (!this.#source.knowsRecords(model.table, model.primaryKey.column)) return undefined
    const statement = this.#compiler.find(model, criteria)
    const known = this.#knownOf(statement.text)
    const encoder = members.length === 0 ? this.#encoders.of(select) : this.#encoders.without(select, members)
    const page = { model, criteria, keys, encoder, known }
    const byKeys = () => this.#byKeys(page, options)
    const whole = () => this.#whole(page, statement, execute)
    if (known.value <= mostKnown) return whole()
    // Every read but a lookup waits for a turn with time left.
    return eventLoopTurn.isUsed ? eventLoopTurn.next().then(() => byKeys() ?? whole()) : (byKeys() ?? whole())
  }

  /** All attributes in one statement. Texts of some of these pages are kept. */
  #whole(
    { criteria, keys: { table, at }, encoder, known }: TextPage,
    statement: FindStatement,
    execute: Execute,
  ): MaybePromise<Records> {
    const encoders = this.#encoders
    if (!known.isWorthKeeping())
      return execute(statement, (rows) => pageOf(rows, criteria, statement.columns, encoders))
    const { texts } = this.#source
    const { state } = texts
    let isLater = false
    const result = execute(statement, (rows) => {
      const kept = texts.state === state ? texts.of(encoder, table) : undefined
      if (!kept) return pageOf(rows, criteria, statement.columns, encoders)
      // What another process reads, or a later turn, is not read by keys.
      if (!isLater) known.learn(rows.length, texts.count(kept, rows, at))
      // Changes that were counted since the rows were read may concern them.
      const keep = (row: Row, text: string): void => {
        const key = row[at]
        if (texts.state === state && typeof key === 'number' && texts.get(kept, key) === undefined)
          texts.set(kept, key, flat(text))
      }
      return pageOf(rows, criteria, statement.columns, keepingEncoders(encoders, encoder, keep))
    })
    isLater = true
    return result
  }

  #byKeys(page: TextPage, options: ReadOptions | undefined): Records | undefined {
    const { model, criteria, keys, encoder, known } = page
    const { texts } = this.#source
    const records = this.#source.readCurrent((read) => {
      const kept = texts.of(encoder, model.table)
      if (!kept) return undefined
      const statement = this.#compiler.find(model, this.#selecting(criteria, keys.select))
      const rows = read(statement, options)
      // With a larger integer in one of them, such as a value that they are sorted by, all have BigInts.
      if (typeof rows[0]?.[0] === 'bigint') return undefined
      const length = Math.min(rows.length, criteria.limit)
      const missing = texts.append(kept, rows, length).map((place) => rows[place] as unknown[])
      if (missing.length > 0 && !this.#readMissing(page, missing, kept, read)) return undefined
      known.learn(length, length - missing.length)
      return pageOf(rows, criteria, statement.columns, keys.encoders)
    })
    if (!records) known.forget()
    return records
  }

  /** Reads the records of these rows of keys, and puts their texts at the end of each. False if some do not exist. */
  #readMissing(
    { model, keys: { at, byKey }, encoder }: TextPage,
    missing: readonly unknown[][],
    kept: TextsOfSelection,
    read: CurrentRead,
  ): boolean {
    const ids = missing.map(([key]) => key as Json)
    const found = new Map<unknown, string>()
    const options = readAtOnce()
    for (const some of chunksOf(ids, keysAtOnce))
      for (const row of read(this.#compiler.find(model, new FilledCriteria(byKey, [some])), options)) {
        const text = flat(encoder.encodeOpen(row))
        // A BigInt where another value is too large for a number.
        const key = Number(row[at])
        this.#source.texts.set(kept, key, text)
        found.set(key, text)
      }
    for (const row of missing) row[row.length - 1] = found.get(row[0])
    return found.size === missing.length
  }

  /** The same page of keys. */
  #selecting(criteria: Criteria, select: Selection): Criteria {
    if (criteria instanceof FilledCriteria)
      return new FilledCriteria(this.#selecting(criteria.template, select), criteria.operands)
    let selecting = this.#keyCriteria.get(criteria)
    if (!selecting) {
      selecting = { ...criteria, select }
      this.#keyCriteria.set(criteria, selecting)
    }
    return selecting
  }

  #keysOf(model: Model, select: Selection): Keys | 'none' {
    let keys = this.#keys.get(select)
    if (keys === undefined) {
      keys = this.#makeKeys(model, select)
      this.#keys.set(select, keys)
    }
    return keys
  }

  /** The value of a computed attribute may depend on anything. */
  #makeKeys(model: Model, select: Selection): Keys | 'none' {
    const { dialect } = this.#encoders
    const at = select.findIndex(({ isPrimaryKey }) => isPrimaryKey)
    const key = select[at]
    if (!key || model.key.length > 1 || storedSelection(select) !== select || dialect.decode(key, 1) !== 1)
      return 'none'
    const ofKeys = [key, ...select.filter((attribute) => attribute !== key && attribute.references)]
    const byKey = { where: idIn(model, []), sort: [], limit: keysAtOnce, skip: 0, select }
    return {
      table: model.table,
      at,
      select: ofKeys,
      encoders: encodersOfTexts(dialect, ofKeys, textAtEnd),
      byKey: templateOf(byKey).criteria,
    }
  }

  #knownOf(text: string): KnownShare {
    let known = this.#known.get(text)
    if (!known) {
      known = new KnownShare()
      this.#known.set(text, known)
    }
    return known
  }
}

/** Keys of one statement, so few that the limit is part of its text. */
const keysAtOnce = 100

const textAtEnd = (row: Row): string => row[row.length - 1] as string

/** Encoders that give each text to `keep` as well. */
function keepingEncoders(
  { dialect }: Encoders,
  encoder: Encoder,
  keep: (row: Row, text: string) => void,
): RecordEncoders {
  const keeping: Encoder = {
    ...encoder,
    encoderOf: undefined,
    encodeOpen(row) {
      const text = encoder.encodeOpen(row)
      keep(row, text)
      return text
    },
  }
  return { dialect, of: () => keeping, without: () => keeping }
}
