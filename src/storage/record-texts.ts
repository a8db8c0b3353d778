import type { Row } from './driver.ts'

/** Selections whose texts are kept at once: each takes a step for every change of a record. */
const maxSelections = 100
/** One text takes at most this part of all. */
const largestPart = 64
/** The memory of a text besides its characters, which may take two bytes each. */
const overheadBytes = 64

/**
 * A cache of encoded records, by encoder and key. An encoder belongs to one selection of one model, so requesters share the texts
 * of the attributes that they may read. Lists of embedded records are cached in the same way, by the key of the record that
 * contains them. A text has the state at which changes were last counted, or a later one. Before texts are used, the changes
 * since then are counted, which drops the texts of changed records; all others are current.
 */
export class RecordTexts {
  readonly #halfBytes: number
  readonly #all = new Map<object, TextsOfSelection>()
  #usedBytes = 0
  #unusedBytes = 0
  /**
   * Incremented when changes are counted. A record may be cached only if this number is the same as before the record was read.
   */
  state = 0

  constructor(maxBytes: number) {
    this.#halfBytes = maxBytes / 2
  }

  /** The size of all cached texts. */
  get bytes(): number {
    return this.#usedBytes + this.#unusedBytes
  }

  /** The texts of a selection. Undefined if `maxSelections` others are cached. */
  of(selection: object, table: string, via?: string): TextsOfSelection | undefined {
    const known = this.#all.get(selection)
    if (known || this.#all.size >= maxSelections) return known
    const texts = { selection, table, via, used: new Map(), unused: new Map(), greatest: Number.NEGATIVE_INFINITY }
    this.#all.set(selection, texts)
    return texts
  }

  /** The columns by which lists of records are kept, of each table. */
  get vias(): ReadonlyMap<string, readonly string[]> {
    const vias = new Map<string, string[]>()
    for (const { table, via } of this.#all.values()) {
      if (via === undefined) continue
      const columns = vias.get(table)
      if (!columns) vias.set(table, [via])
      else if (!columns.includes(via)) columns.push(via)
    }
    return vias
  }

  get(texts: TextsOfSelection, key: number): string | undefined {
    const used = texts.used.get(key)
    if (used !== undefined) return used
    const text = texts.unused.get(key)
    if (text === undefined) return undefined
    texts.unused.delete(key)
    this.#unusedBytes -= bytesOf(text)
    this.set(texts, key, text)
    return text
  }

  /** The number of rows with a cached text. The key is the value at `at`. */
  count(texts: TextsOfSelection, rows: readonly Row[], at: number): number {
    let count = 0
    for (const row of rows) if (this.get(texts, row[at] as number) !== undefined) count++
    return count
  }

  /**
   * Appends the cached text to each of the first `length` rows, whose first value is the key. Returns the indexes of rows without
   * a cached text.
   */
  append(texts: TextsOfSelection, rows: readonly Row[], length: number): readonly number[] {
    const missing: number[] = []
    for (let place = 0; place < length; place++) {
      const row = rows[place] as unknown[]
      const text = this.get(texts, row[0] as number)
      row.push(text)
      if (text === undefined) missing.push(place)
    }
    return missing
  }

  set(texts: TextsOfSelection, key: number, text: string): void {
    const bytes = bytesOf(text)
    if (bytes > (2 * this.#halfBytes) / largestPart) return
    if (this.#usedBytes + bytes > this.#halfBytes) this.#dropUnused()
    if (this.#all.get(texts.selection) !== texts) return
    this.#remove(texts, key)
    texts.used.set(key, text)
    this.#usedBytes += bytes
  }

  /** Drops the texts of a record that has changed. */
  drop(table: string, key: number): void {
    for (const texts of this.#all.values())
      if (texts.table === table && texts.via === undefined) this.#remove(texts, key)
  }

  /** Drops the list of a record: another record was added to it, removed from it, or changed in it. */
  dropList(table: string, via: string, key: number): void {
    for (const texts of this.#all.values()) if (texts.table === table && texts.via === via) this.#remove(texts, key)
  }

  /** Drops lists after a record with this key was inserted. It may have replaced another record, whose list is not known. */
  dropListsWith(table: string, key: number): void {
    for (const texts of this.#all.values())
      if (texts.table === table && texts.via !== undefined && !(key > texts.greatest)) this.#empty(texts)
  }

  /** Drops all texts, because all records may have changed. */
  clear(): void {
    this.#all.clear()
    this.#usedBytes = 0
    this.#unusedBytes = 0
    this.state++
  }

  #empty(texts: TextsOfSelection): void {
    for (const text of texts.used.values()) this.#usedBytes -= bytesOf(text)
    for (const text of texts.unused.values()) this.#unusedBytes -= bytesOf(text)
    texts.used.clear()
    texts.unused.clear()
    texts.greatest = Number.NEGATIVE_INFINITY
  }

  #remove({ used, unused }: TextsOfSelection, key: number): void {
    const [text, other] = [used.get(key), unused.get(key)]
    if (text !== undefined) this.#usedBytes -= bytesOf(text)
    if (other !== undefined) this.#unusedBytes -= bytesOf(other)
    used.delete(key)
    unused.delete(key)
  }

  /** Drops the texts that were not used since the last call. This is cheaper than to keep the order of use. */
  #dropUnused(): void {
    for (const [selection, texts] of this.#all) {
      if (texts.used.size === 0) this.#all.delete(selection)
      texts.unused = texts.used
      texts.used = new Map()
    }
    this.#unusedBytes = this.#usedBytes
    this.#usedBytes = 0
  }
}

/** The texts of one selection, by key. */
export interface TextsOfSelection {
  /** The key of the cache: an encoder, or an object that stands for the lists of one association. */
  readonly selection: object
  readonly table: string
  /** For lists: the foreign key that refers to the record that contains the list. */
  readonly via: string | undefined
  /** The greatest key of a record in a list. */
  greatest: number
  /** The texts that were used since the last `#dropUnused`. */
  used: Map<number, string>
  unused: Map<number, string>
}

const bytesOf = (text: string): number => 2 * text.length + overheadBytes
