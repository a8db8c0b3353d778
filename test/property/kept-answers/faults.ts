import { mock } from 'node:test'
import { readRulesOf } from '../../../src/access/read-rules.ts'
import { AnswerCache } from '../../../src/service/dispatch/answer-cache.ts'
import { RecordVersions } from '../../../src/storage/sqlite/change-log/record-versions.ts'
import { SqliteTableVersions } from '../../../src/storage/sqlite/change-log/table-versions.ts'
import { isTextFault, plantInTexts, type TextFault } from './text-faults.ts'

/** What is broken on purpose, in this process. */
export const faults = [
  'the versions of embedded models are forgotten',
  'the version of a record is that of another',
  'the values of the rule are left out of the key',
  'writes of other programs are not seen',
  'changes of the records of a page are forgotten',
  'records that come and go are forgotten',
] as const
export type Fault = (typeof faults)[number] | TextFault

export interface Planted extends Disposable {
  /** To be called after each write of the services of this process. */
  ownWrite(): void
}

export function plant(fault: Fault | undefined): Planted {
  const known = new Map<string, string | undefined>()
  const mocks = fault === undefined ? [] : isTextFault(fault) ? plantInTexts(fault, known) : [plantIn(fault, known)]
  return {
    ownWrite: () => known.clear(),
    [Symbol.dispose]() {
      for (const { mock } of mocks) mock.restore()
    },
  }
}

function plantIn(fault: (typeof faults)[number], known: Map<string, string | undefined>) {
  const { of, ofPage } = SqliteTableVersions.prototype
  const { count } = RecordVersions.prototype
  const { lookup } = AnswerCache.prototype
  switch (fault) {
    case 'the versions of embedded models are forgotten':
      return mock.method(SqliteTableVersions.prototype, 'of', function (this: SqliteTableVersions, tables, record) {
        return of.call(this, tables.slice(0, record ? 0 : 1), record)
      } satisfies typeof of)
    case 'the version of a record is that of another':
      return mock.method(SqliteTableVersions.prototype, 'of', function (this: SqliteTableVersions, tables, record) {
        return of.call(this, tables, record && { ...record, id: 1 + (record.id as number) })
      } satisfies typeof of)
    case 'the values of the rule are left out of the key': {
      const firsts = new Map<string, Parameters<typeof lookup>[1]>()
      return mock.method(AnswerCache.prototype, 'lookup', function (this: AnswerCache, plan, access) {
        const { key } = readRulesOf([plan.match.model], access)
        const shape = key.replaceAll(/"[ab]"|\b[34]\b/g, '?')
        if (!firsts.has(shape)) firsts.set(shape, access)
        return lookup.call(this, plan, firsts.get(shape))
      } satisfies typeof lookup)
    }
    case 'changes of the records of a page are forgotten':
      return mock.method(SqliteTableVersions.prototype, 'ofPage', function (this: SqliteTableVersions, page) {
        return ofPage.call(this, { ...page, ids: [] })
      } satisfies typeof ofPage)
    case 'records that come and go are forgotten':
      return mock.method(RecordVersions.prototype, 'count', function (
        this: RecordVersions,
        table,
        id,
        _,
        ...[before, referred]
      ) {
        count.call(this, table, id, 'updated', before ?? /\d+/.exec(id as string)?.[0], referred)
      } satisfies typeof count)
    case 'writes of other programs are not seen':
      return mock.method(SqliteTableVersions.prototype, 'of', function (this: SqliteTableVersions, tables, record) {
        const key = JSON.stringify([tables, record])
        if (!known.has(key)) known.set(key, of.call(this, tables, record))
        return known.get(key)
      } satisfies typeof of)
  }
}
