import { yieldToEventLoop } from '../../support/yield-to-event-loop.ts'
import type { Driver } from '../driver.ts'
import { answerTable } from '../sql-stored-answers.ts'
import type { AnswerRetention, AnswerTable } from '../stored-answers.ts'
import { type GrowingTable, type Read, sliceAfter, TableSize } from './table-slices.ts'

const growing: GrowingTable = {
  name: answerTable,
  rowBytes: '200 + octet_length(headers) + ifnull(octet_length(body), 0)',
}

/** The stored answers, which are added in the order of their time, as nearly as matters. */
export class SqliteAnswerTable implements AnswerTable {
  readonly body = 'cast(body as blob)'
  readonly #driver: Pick<Driver, 'query' | 'transaction'>
  readonly #size: TableSize

  constructor(driver: Pick<Driver, 'query' | 'transaction'>) {
    this.#driver = driver
    this.#size = new TableSize(this.#read, growing)
  }

  size(): Promise<number> {
    return this.#size.bytes()
  }

  /** Deletes in slices: freeing the pages of long answers takes time. */
  async trim({ olderThan, rows, bytes }: AnswerRetention): Promise<void> {
    const [newest] = await this.#read(`select max(rowid) from ${answerTable}`)
    const last = Number(newest?.[0] ?? 0)
    const surplus = Math.max(last - rows, (await this.#size.lastBeyond(bytes)) ?? 0)
    for (let from = 0; ; ) {
      const slice = await sliceAfter(this.#read, growing, [from, last])
      if (!slice) return
      const range = [from, slice.to, surplus, olderThan]
      const gone = 'rowid > ? and rowid <= ? and (rowid <= ? or at < ?)'
      const statement = `delete from ${answerTable} where ${gone} returning 1`
      const [deleted] = await this.#driver.transaction((query) => query(statement, range), undefined, { isFirst: true })
      if (!deleted) return
      await yieldToEventLoop()
      from = slice.to
    }
  }

  readonly #read: Read = async (text, values = []) => this.#driver.query(text, values)
}
