import type { RecordTexts } from '../../record-texts.ts'
import type { PageKeys, RecordKey } from '../../table-versions.ts'
import type { Connection } from '../client/connection.ts'

/** If more records than this have changed, all records count as changed. */
const maxRecords = 20_000

/**
 * Versions of single records, from the rows of the change log. `insert or replace` deletes rows without a log row. Records are
 * therefore tracked only in tables whose only unique index is the primary key, and whose key is the row id: the deleted row then
 * has the key of the inserted one.
 */
export class RecordVersions {
  readonly #texts: RecordTexts | undefined
  readonly #changes = new Map<string, number>()
  /** By table: when a record was last inserted, deleted, or given another key. */
  readonly #members = new Map<string, number>()
  #count = 0
  /** When all records were last counted as changed. */
  #common = 0
  /** The column of the key, by table. */
  #keys: ReadonlyMap<string, string> = new Map()
  #keyBefore = 'null'
  /** The columns of cached lists, as last selected by `#referred`. */
  #vias: ReadonlyMap<string, readonly string[]> = new Map()

  /** `texts`: a cache from which the texts of changed records are dropped. */
  constructor(texts?: RecordTexts) {
    this.#texts = texts
  }

  /** To be called whenever the schema may have changed. */
  readSchema(reading: Connection): void {
    const rows = reading.read(tablesWithRowKeys, []) as readonly (readonly [table: string, column: string])[]
    this.#keys = new Map(rows.filter(([table, column]) => isPlain(table) && isPlain(column)))
    const cases = [...this.#keys].map(([table, column]) => `when '${table}' then json_extract(before, '$."${column}"')`)
    this.#keyBefore = cases.length === 0 ? 'null' : `case model ${cases.join(' ')} end`
    this.countAll()
  }

  /** Selects what `count` needs of a row of the log. */
  get columns(): string {
    return `id, verb, case verb when 'updated' then ${this.#keyBefore} end, ${this.#referred}`
  }

  /** SQL for the foreign keys in `#vias`, before and after the change. */
  get #referred(): string {
    this.#vias = this.#texts?.vias ?? this.#vias
    const cases = [...this.#vias].map(
      ([table, columns]) => `when '${table}' then json_array(${columns.flatMap(beforeAndAfter).join()})`,
    )
    return cases.length === 0 ? 'null' : `case model ${cases.join(' ')} end`
  }

  count(table: string, id: unknown, verb: unknown, keyBefore: unknown, referred?: unknown): void {
    if (!this.#keys.has(table)) return
    const key = /^\[(-?\d+)\]$/.exec(id as string)?.[1]
    if (key === undefined || (verb === 'updated' && keyBefore === null)) {
      this.countAll()
      return
    }
    this.#change(table, key)
    const isMoved = verb === 'updated' && String(keyBefore) !== key
    if (isMoved) this.#change(table, String(keyBefore))
    if (isMoved || verb !== 'updated') this.#members.set(table, this.#count)
    if (typeof referred === 'string')
      this.#dropLists(table, isMoved || verb === 'created' ? Number(key) : undefined, JSON.parse(referred))
    if (this.#changes.size > maxRecords) this.countAll()
  }

  /** All records may have changed. */
  countAll(): void {
    this.#changes.clear()
    this.#common++
    this.#texts?.clear()
  }

  /** Differs after a change of the record; undefined: only the version of its table can tell. */
  of({ table, column, id }: RecordKey): string | undefined {
    if (!Number.isSafeInteger(id) || !this.knows(table, column)) return undefined
    return `${this.#common}:${this.#changes.get(`${table} ${id}`) ?? 0}`
  }

  /** Changes with each of these records, and whenever any record of the table is inserted or deleted. */
  ofPage({ table, column, ids }: PageKeys): string | undefined {
    if (!this.knows(table, column)) return undefined
    let newest = this.#members.get(table) ?? 0
    for (const id of ids) {
      if (!Number.isSafeInteger(id)) return undefined
      newest = Math.max(newest, this.#changes.get(`${table} ${id}`) ?? 0)
    }
    return `${this.#common}:${newest}`
  }

  /** Whether single records of the table are tracked, by this key. */
  knows(table: string, column: string): boolean {
    return this.#keys.get(table) === column
  }

  /** `key`: of a record that may have replaced another. `referred`: for each column before and after. */
  #dropLists(table: string, key: number | undefined, referred: readonly unknown[]): void {
    for (const [index, value] of referred.entries()) {
      if (value === null) continue
      const via = this.#vias.get(table)?.[index >> 1] as string
      if (typeof value === 'number') this.#texts?.dropList(table, via, value)
      else this.countAll() // another program may store anything
    }
    if (key !== undefined) this.#texts?.dropListsWith(table, key)
  }

  #change(table: string, key: string): void {
    this.#texts?.drop(table, Number(key))
    this.#changes.set(`${table} ${key}`, ++this.#count)
  }
}

/** Tables without any unique index: their key is the number of the row. */
const tablesWithRowKeys = `select t.name, c.name from pragma_table_list t join pragma_table_info(t.name) c on c.pk > 0
  where t.schema = 'main' and t.type = 'table'
    and not exists (select 1 from pragma_index_list(t.name) i where i."unique")
  group by t.name having count(*) = 1`

const beforeAndAfter = (column: string): readonly string[] =>
  ['before', 'after'].map((image) => `json_extract(${image}, '$."${column}"')`)

export const isPlain = (name: string): boolean => /^\w+$/.test(name)
