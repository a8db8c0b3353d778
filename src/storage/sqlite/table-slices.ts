import { yieldToEventLoop } from '../../support/yield-to-event-loop.ts'
import type { Row } from '../driver.ts'

export type Read = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>

/** Rows that are examined or deleted in one statement, so that other requests are not blocked for long. */
const sliceRows = 2000
const sliceBytes = 4_000_000

export interface Slice {
  /** The number of its last row. */
  readonly to: number
  readonly bytes: number
}

/** A table whose rows are added at its end and deleted from its beginning, and what a row of it takes as an SQL expression. */
export interface GrowingTable {
  readonly name: string
  readonly rowBytes: string
}

/** The rows after a number, up to another one, that one statement may take. */
export async function sliceAfter(
  read: Read,
  { name, rowBytes }: GrowingTable,
  [from, until]: readonly [from: number, until: number],
): Promise<Slice | undefined> {
  const [row] = await read(
    `select coalesce(max(number) filter (where bytes <= ${sliceBytes}), min(number)),
       coalesce(max(bytes) filter (where bytes <= ${sliceBytes}), min(bytes)) from
     (select number, sum(size) over (order by number) as bytes from
     (select rowid as number, ${rowBytes} as size from ${name} where rowid > ? and rowid <= ? order by rowid limit ${sliceRows}))`,
    [from, until],
  )
  return row?.[0] === null ? undefined : { to: Number(row?.[0]), bytes: Number(row?.[1]) }
}

/** The bytes of a growing table: each row is examined once, and all of them again when some were deleted. */
export class TableSize {
  readonly #read: Read
  readonly #table: GrowingTable
  #first = 0
  #last = 0
  #bytes = 0
  #counting: Promise<number> | undefined

  constructor(read: Read, table: GrowingTable) {
    this.#read = read
    this.#table = table
  }

  bytes(): Promise<number> {
    this.#counting ??= this.#count().finally(() => {
      this.#counting = undefined
    })
    return this.#counting
  }

  async #count(): Promise<number> {
    const { name } = this.#table
    const [row] = await this.#read(`select (select min(rowid) from ${name}), (select max(rowid) from ${name})`)
    const [first, last] = [Number(row?.[0] ?? 0), Number(row?.[1] ?? 0)]
    if (first !== this.#first || last < this.#last) {
      this.#first = first
      this.#last = first - 1
      this.#bytes = 0
    }
    // The values are not read for it, so that long rows take no longer than short ones.
    const text = `select max(number), sum(size) from
      (select rowid as number, ${this.#table.rowBytes} as size from ${name} where rowid > ? order by rowid limit ${sliceRows})`
    while (this.#last < last) {
      const [slice] = await this.#read(text, [this.#last])
      if (slice === undefined || slice[0] === null) break
      this.#last = Number(slice[0])
      this.#bytes += Number(slice[1])
      await yieldToEventLoop()
    }
    return this.#bytes
  }

  /** The last of the oldest rows without which the others have at most so many bytes; undefined: there are no more of them. */
  async lastBeyond(maxBytes: number): Promise<number | undefined> {
    let surplus = (await this.bytes()) - maxBytes
    let last: number | undefined
    while (surplus > 0) {
      const range = [last ?? this.#first - 1, this.#last] as const
      const slice = await sliceAfter(this.#read, this.#table, range)
      if (!slice) break
      last = slice.bytes <= surplus ? slice.to : await this.#within([range[0], slice.to], surplus)
      surplus -= slice.bytes
      await yieldToEventLoop()
    }
    return last
  }

  /** The first of these rows that has, with those before it, so many bytes. */
  async #within(range: readonly [from: number, to: number], bytes: number): Promise<number> {
    const { name, rowBytes } = this.#table
    const [row] = await this.#read(
      `select min(number) from (select rowid as number, sum(${rowBytes}) over (order by rowid) as bytes
       from ${name} where rowid > ? and rowid <= ?) where bytes >= ?`,
      [...range, bytes],
    )
    return Number(row?.[0])
  }
}
