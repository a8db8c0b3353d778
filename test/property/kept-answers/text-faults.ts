import { mock } from 'node:test'
import { type Criteria, matchAll } from '../../../src/criteria/criteria.ts'
import { EmbeddedTexts } from '../../../src/storage/embedded-texts.ts'
import { RecordTexts } from '../../../src/storage/record-texts.ts'
import { RecordVersions } from '../../../src/storage/sqlite/change-log/record-versions.ts'
import { SqliteTableVersions } from '../../../src/storage/sqlite/change-log/table-versions.ts'
import { TextReads } from '../../../src/storage/text-reads.ts'

/** What is broken on purpose where texts of records are kept. */
export const textFaults = [
  'the text of a changed record is kept',
  'the selection is left out of the key of a text',
  'the values that rules hide are left out of the key of a text',
  'the texts that other programs change are kept',
  'the text of a changed record is embedded',
  'the list that a record has left is kept',
  'the list that a record has come into is kept',
  'the list of a record that was replaced is kept',
  'the selection is left out of the key of a list',
  'the rules of embedded records are forgotten',
] as const
export type TextFault = (typeof textFaults)[number]

export const isTextFault = (fault: string): fault is TextFault => textFaults.some((known) => known === fault)

/** `known` is emptied after each write of the services of this process. */
export function plantInTexts(fault: TextFault, known: Map<string, string | undefined>) {
  const { drop } = RecordTexts.prototype
  const { within } = SqliteTableVersions.prototype
  const { find } = TextReads.prototype
  const { read } = EmbeddedTexts.prototype
  switch (fault) {
    case 'the text of a changed record is kept':
      return [mock.method(RecordTexts.prototype, 'drop', () => {})]
    case 'the selection is left out of the key of a text':
      return [withOneSelection((via) => via === undefined)]
    case 'the selection is left out of the key of a list':
      return [withOneSelection((via) => via !== undefined)]
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
    case 'the text of a changed record is embedded': {
      const firsts = new Map<string, ReturnType<typeof read>>()
      return [
        mock.method(EmbeddedTexts.prototype, 'read', function (this: EmbeddedTexts, association, keys, criteria) {
          const { where, select, limit } = criteria
          const key = JSON.stringify([association.target.table, where, select.map(({ name }) => name), limit, keys])
          if (association.kind !== 'belongsTo') return read.call(this, association, keys, criteria)
          if (firsts.get(key) === undefined) firsts.set(key, read.call(this, association, keys, criteria))
          return firsts.get(key)
        } satisfies typeof read),
      ]
    }
    case 'the list that a record has left is kept':
      return [plantInReferred(([, after]) => [null, after])]
    case 'the list that a record has come into is kept':
      return [plantInReferred(([before]) => [before, null])]
    case 'the list of a record that was replaced is kept':
      return [mock.method(RecordTexts.prototype, 'dropListsWith', () => {})]
    case 'the rules of embedded records are forgotten':
      return [
        mock.method(EmbeddedTexts.prototype, 'read', function (this: EmbeddedTexts, association, keys, criteria) {
          const { masks: _, ...shown } = criteria
          return read.call(this, association, keys, { ...shown, where: matchAll })
        } satisfies typeof read),
      ]
  }
}

/** All selections of a table are one: of its records, or of its lists. */
function withOneSelection(isMeant: (via: string | undefined) => boolean) {
  const { of } = RecordTexts.prototype
  const firsts = new Map<string, object>()
  return mock.method(RecordTexts.prototype, 'of', function (this: RecordTexts, selection, table, via) {
    const place = `${table} ${via}`
    if (!firsts.has(place)) firsts.set(place, selection)
    return of.call(this, isMeant(via) ? (firsts.get(place) as object) : selection, table, via)
  } satisfies typeof of)
}

/** What a changed row refers to, before and after, is read as something else. */
function plantInReferred(change: (referred: readonly unknown[]) => readonly unknown[]) {
  const { count } = RecordVersions.prototype
  return mock.method(RecordVersions.prototype, 'count', function (this: RecordVersions, ...counted) {
    const [table, id, verb, keyBefore, referred] = counted
    const changed = typeof referred === 'string' ? JSON.stringify(change(JSON.parse(referred))) : referred
    count.call(this, table, id, verb, keyBefore, changed)
  } satisfies typeof count)
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
