import type { Attribute, Model } from '../../../model/model.ts'
import type { Change, Position, RecordId, Verb } from '../../../protocol/change.ts'
import { verbs } from '../../../protocol/change.ts'
import type { Json, JsonObject } from '../../../protocol/json.ts'
import type { Dialect } from '../../../sql/dialect.ts'
import { forEachInTurns } from '../../../support/event-loop-turn.ts'
import type { IsWanted } from '../../change-log.ts'
import type { Row } from '../../driver.ts'
import { imageAttributes, imageRecord } from '../../image-record.ts'
import { changeOrigin } from '../../write-origin.ts'
import { timestampOf } from '../client/text-form.ts'
import { type TableCapture, verbLetters } from './capture-triggers.ts'

/** A log row as selected by `logColumns`. */
export interface LogRow {
  readonly seq: bigint
  readonly tx: string
  readonly capture: number
  readonly verb: string
  readonly before: Image | undefined
  readonly after: Image | undefined
  /** About what it takes in memory; 0 without images. */
  readonly bytes: number
  readonly at: string
  readonly origin: string | undefined
}

/** The text of each column, in the order of the capture. */
type Image = readonly (string | null)[]

/** `unwanted` is the parameter with the captures whose images are not needed, and which may be large. */
export const logColumns = (unwanted: string): string =>
  `seq, tx, capture, verb, ${['before', 'after'].map((image) => `case when capture <> all(${unwanted}::int[]) then array_to_json(${image}) end as ${image}`).join(', ')}, at, origin`

const logRowOf = ([seq, tx, capture, verb, before, after, at, origin]: Row): LogRow => ({
  seq: BigInt(seq as string),
  tx: tx as string,
  capture: Number(capture),
  verb: verb as string,
  before: imageOf(before),
  after: imageOf(after),
  bytes: before === null && after === null ? 0 : 100 + lengthOf(before) + lengthOf(after),
  at: timestampOf(at as string),
  origin: (origin as string | null) ?? undefined,
})

/** The rows of the log, whose columns begin at `from`. In several turns, because an operation may have thousands of rows. */
export async function logRowsOf(found: readonly Row[], from: number): Promise<LogRow[]> {
  const rows: LogRow[] = []
  await forEachInTurns(found, (row) => rows.push(logRowOf(row.slice(from))))
  return rows
}

/** The rows grouped by operation, in the order of their last rows. */
export function inOrder(rows: readonly LogRow[]): readonly (readonly LogRow[])[] {
  const operations = new Map<string, LogRow[]>()
  for (const row of rows.toSorted((a, b) => (a.seq < b.seq ? -1 : 1))) {
    // Deleting and setting moves the operation to the end of the map.
    const operation = operations.get(row.tx) ?? []
    operations.delete(row.tx)
    operations.set(row.tx, operation)
    operation.push(row)
  }
  return [...operations.values()]
}

const lengthOf = (text: unknown): number => (text as string | null)?.length ?? 0

const imageOf = (text: unknown): Image | undefined => (text === null ? undefined : JSON.parse(text as string))

const verbOf = new Map<string, Verb>(verbs.map((verb) => [verbLetters[verb], verb]))

/** Reads the rows of one capture as changes of one model. */
export class RowReader {
  readonly #model: Model
  readonly #dialect: Dialect
  readonly #capturedAt: ReadonlyMap<Attribute, number>
  readonly #keyAt: readonly number[]

  constructor(model: Model, { columns }: TableCapture, dialect: Dialect) {
    this.#model = model
    this.#dialect = dialect
    const captured = imageAttributes(model).map((attribute) => [attribute, columns.indexOf(attribute.column)] as const)
    this.#capturedAt = new Map(captured.filter(([, at]) => at >= 0))
    this.#keyAt = model.key.map((attribute) => columns.indexOf(attribute.column))
  }

  isWanted(isWanted: IsWanted): boolean {
    return isWanted(this.#model.name)
  }

  /**
   * The changes of a row. Undefined if it cannot be decoded, so that a reset is needed; `'not sent'` if its model was not wanted
   * yet when the rows were requested, so that it came without its images.
   */
  changesOf(row: LogRow, position: Position, isWanted: IsWanted): readonly Change[] | 'not sent' | undefined {
    const verb = verbOf.get(row.verb)
    if (verb === undefined || this.#keyAt.includes(-1)) return undefined
    if (!this.isWanted(isWanted)) return []
    const { before, after } = row
    if (!before && !after) return 'not sent'
    if (before && after && this.#keyAt.some((at) => before[at] !== after[at])) {
      return [
        this.#change(row, position, 'destroyed', before),
        this.#change(row, position, 'created', undefined, after),
      ]
    }
    return [this.#change(row, position, verb, before, after)]
  }

  #change({ tx, at, origin }: LogRow, position: Position, verb: Verb, before?: Image, after?: Image): Change {
    return {
      position,
      operation: tx,
      model: this.#model.name,
      verb,
      id: this.#idOf((after ?? before) as Image),
      ...(before && { before: this.#recordOf(before) }),
      ...(after && { after: this.#recordOf(after) }),
      at,
      ...changeOrigin(origin),
    }
  }

  #idOf(image: Image): Change['id'] {
    const { key } = this.#model
    const values = key.map(
      (attribute, index) => this.#valueOf(attribute, image[this.#keyAt[index] as number]) as RecordId,
    )
    return values.length === 1 ? (values[0] as RecordId) : values
  }

  #recordOf(image: Image): JsonObject {
    return imageRecord(this.#model, (attribute) => {
      const at = this.#capturedAt.get(attribute)
      return at === undefined ? undefined : this.#valueOf(attribute, image[at])
    })
  }

  #valueOf(attribute: Attribute, text: string | null | undefined): Json {
    return this.#dialect.decodeImage(attribute, text ?? null)
  }
}
