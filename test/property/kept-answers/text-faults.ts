import { mock } from 'node:test'
import type { Criteria } from '../../../src/criteria/criteria.ts'
import { RecordTexts } from '../../../src/storage/record-texts.ts'
import { SqliteTableVersions } from '../../../src/storage/sqlite/change-log/table-versions.ts'
import { TextReads } from '../../../src/storage/text-reads.ts'

/** What is broken on purpose where texts of records are kept. */
export const textFaults = [
  'the text of a changed record is kept',
  'the selection is left out of the key of a text',
  'the values that rules hide are left out of the key of a text',
  'the texts that other programs change are kept',
] as const
export type TextFault = (typeof textFaults)[number]

export const isTextFault = (fault: string): fault is TextFault => textFaults.some((known) => known === fault)

/** `known` is emptied after each write of the services of this process. */
export function plantInTexts(fault: TextFault, known: Map<string, string | undefined>) {
  const { drop, of } = RecordTexts.prototype
  const { within } = SqliteTableVersions.prototype
  const { find } = TextReads.prototype
  switch (fault) {
    case 'the text of a changed record is kept':
      return [mock.method(RecordTexts.prototype, 'drop', () => {})]
    case 'the selection is left out of the key of a text': {
      const firsts = new Map<string, Parameters<typeof of>[0]>()
      return [
        mock.method(RecordTexts.prototype, 'of', function (this: RecordTexts, encoder, table) {
          if (!firsts.has(table)) firsts.set(table, encoder)
          return of.call(this, firsts.get(table) as typeof encoder, table)
        } satisfies typeof of),
      ]
    }
    case 'the values that rules hide are left out of the key of a text':
      return [
        mock.method(TextReads.prototype, 'find', function (this: TextReads, model, criteria, ...rest) {
          const { masks: _, ...shown } = criteria
          return find.call(this, model, criteria.masks ? (shown satisfies Criteria) : criteria, ...rest)
        } satisfies typeof find),
      ]
    case 'the texts that other programs change are kept':
      return [
        mock.method(SqliteTableVersions.prototype, 'within', function (this: SqliteTableVersions, work) {
          const result = within.call(this, work)
          known.set('counted', undefined)
          return result
        } as typeof within),
        mock.method(RecordTexts.prototype, 'drop', function (this: RecordTexts, table, key) {
          if (!known.has('counted')) drop.call(this, table, key)
        } satisfies typeof drop),
      ]
  }
}

/** Between the counting of changes and the reading of keys. `isOneState`: as it is, in one transaction. */
export const whenCounted = (run: () => void, isOneState: boolean) => {
  const { within } = SqliteTableVersions.prototype
  return mock.method(SqliteTableVersions.prototype, 'within', function (this: SqliteTableVersions, work) {
    return within.call(this, (reading) => {
      if (!isOneState) reading.exec('commit')
      run()
      if (!isOneState) reading.exec('begin')
      return work(reading)
    })
  } as typeof within)
}

/** Counts the pages of which every text was kept, in this process. */
export function countPagesOfTexts(): Disposable & { readonly count: number } {
  const { append } = RecordTexts.prototype
  let count = 0
  const counted = mock.method(RecordTexts.prototype, 'append', function (this: RecordTexts, texts, rows, length) {
    const missing = append.call(this, texts, rows, length)
    if (length > 0 && missing.length === 0) count++
    return missing
  } satisfies typeof append)
  return {
    get count() {
      return count
    },
    [Symbol.dispose]: () => counted.mock.restore(),
  }
}
