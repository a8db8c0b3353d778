import { ByteBudget, readBytesPerAnswerByte } from './byte-budget.ts'
import type { CurrentRead } from './driver.ts'
import type { RecordTexts } from './record-texts.ts'
import type { ReadOptions } from './store.ts'

/** Reads the current state of the database, and knows which records have changed since their texts were kept. */
export interface TextSource {
  readonly texts: RecordTexts
  /** Reads in one step, in the state up to which changes are counted. Undefined: not now, or not in this process. */
  readCurrent<T>(work: (read: CurrentRead) => T): T | undefined
  /** Whether changes of single records of the table are known by this key. */
  knowsRecords(table: string, keyColumn: string): boolean
}

const bytesAtOnce = 524_288

/** For records whose texts are encoded in one turn of the event loop: larger ones are read again, and encoded in parts. */
export const readAtOnce = (): ReadOptions => ({ budget: new ByteBudget(bytesAtOnce / readBytesPerAnswerByte) })

/** The same text in one piece: as it was joined, it keeps each part of it in memory. */
export function flat(text: string): string {
  text.charCodeAt(0)
  return text
}
