import type { Model } from '../../../model/model.ts'
import type { Position } from '../../../protocol/change.ts'
import type { Dialect } from '../../../sql/dialect.ts'
import type { IsWanted } from '../../change-log.ts'
import type { Row } from '../../driver.ts'
import type { TableCapture } from './capture-triggers.ts'
import { type LogRow, RowReader } from './log-rows.ts'
import type { LogTables } from './log-tables.ts'

/** The model of each table, by schema and name. */
export type ModelsByTable = ReadonlyMap<string, Model>

export const tableKey = (schema: string, table: string): string => JSON.stringify([schema, table])

export const captureColumns = 'id, schema, "table", array_to_json(columns), version'

export const captureOfRow = ([id, schema, table, columns, version]: Row): TableCapture => ({
  id: Number(id),
  schema: schema as string,
  table: table as string,
  columns: JSON.parse(columns as string),
  version: version as string,
})

/** Decodes log rows to changes of the models. Other processes may add captures at any time. */
export class LogCaptures {
  readonly #query: (text: string) => Promise<readonly Row[]>
  readonly #tables: LogTables
  readonly #models: ModelsByTable
  readonly #dialect: Dialect
  readonly #readers = new Map<number, RowReader | undefined>()

  constructor(parts: {
    query: (text: string) => Promise<readonly Row[]>
    tables: LogTables
    models: ModelsByTable
    dialect: Dialect
  }) {
    this.#query = parts.query
    this.#tables = parts.tables
    this.#models = parts.models
    this.#dialect = parts.dialect
  }

  /** Must be called with rows before `changesOf` is called with one of them. */
  async learn(rows: readonly LogRow[]): Promise<void> {
    if (rows.every(({ capture }) => this.#readers.has(capture))) return
    for (const row of await this.#query(`select ${captureColumns} from ${this.#tables.capture}`)) {
      const capture = captureOfRow(row)
      const model = this.#models.get(tableKey(capture.schema, capture.table))
      this.#readers.set(capture.id, model && new RowReader(model, capture, this.#dialect))
    }
  }

  /** Captures whose changes are not wanted, as far as they are known. */
  unwanted(isWanted: IsWanted): readonly number[] {
    return [...this.#readers].filter(([, reader]) => reader?.isWanted(isWanted) !== true).map(([id]) => id)
  }

  /** Empty for a table of other models or an unwanted one; otherwise as `changesOf` of its reader. */
  changesOf(row: LogRow, position: Position, isWanted: IsWanted): ReturnType<RowReader['changesOf']> {
    const reader = this.#readers.get(row.capture)
    return reader ? reader.changesOf(row, position, isWanted) : []
  }
}
