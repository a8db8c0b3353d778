import { mock } from 'node:test'
import type { EncodedPage, Encoding } from '../../../src/storage/encoding.ts'
import { PageTexts } from '../../../src/storage/sqlite/client/page-texts.ts'
import { ReaderProcess } from '../../../src/storage/sqlite/client/reader-process.ts'

/** Faults in what a reader process receives, and in what it sends. */
const encodings: Readonly<Record<string, (encoding: Encoding) => Encoding>> = {
  'a column is left out': (encoding) => ({ ...encoding, columns: encoding.columns.slice(0, -1) }),
  'values are taken from the next column': (encoding) => ({
    ...encoding,
    columns: encoding.columns.map((column) => ({ ...column, index: column.index + 1 })),
  }),
  'times are encoded as texts': (encoding) => ({
    ...encoding,
    columns: encoding.columns.map(({ attribute, index }) => ({
      attribute: attribute.type.storedAs === 'timestamp' ? { ...attribute, type: { storedAs: 'text' } } : attribute,
      index,
    })),
  }),
  'the row after the page is encoded': ({ page, ...encoding }) => ({
    ...encoding,
    page: page && { ...page, limit: page.limit + 1 },
  }),
  'the cursor has another value': ({ page, ...encoding }) => ({
    ...encoding,
    page: page && { ...page, sortedAt: page.sortedAt.map((at) => (at + 1) % 2) },
  }),
}
const pages: Readonly<Record<string, (page: EncodedPage) => EncodedPage>> = {
  'the tag is that of another page': (page) => ({ ...page, fingerprint: 'x'.repeat(22) }),
  'the last part is lost': (page) => ({ ...page, parts: page.parts.slice(0, -1) }),
}
/** What is found by the subscriptions of sockets. */
export const keyFault = 'the keys are those of the records before'

export const faults = [...Object.keys(encodings), ...Object.keys(pages)]

export function plant(fault: string | undefined): Disposable {
  const { readPage } = ReaderProcess.prototype
  const inEncoding = encodings[fault ?? ''] ?? ((encoding) => encoding)
  const inPage = fault === keyFault ? withOtherKeys : (pages[fault ?? ''] ?? ((page) => page))
  const planted = mock.method(ReaderProcess.prototype, 'readPage', async function (
    this: ReaderProcess,
    statement,
    encoding,
    options,
  ) {
    const page = await readPage.call(this, statement, encoding && inEncoding(encoding), options)
    return 'parts' in page ? inPage(page) : page
  } satisfies typeof readPage)
  return { [Symbol.dispose]: () => planted.mock.restore() }
}

const withOtherKeys = (page: EncodedPage): EncodedPage => ({
  ...page,
  keys: page.keys.map((key) => (key as number) + 1_000),
})

/** Counts the pages that reader processes have encoded. */
export function countPages(): Disposable & { readonly count: number; readonly inSeveralParts: number } {
  let inSeveralParts = 0
  const { take } = PageTexts.prototype
  const counted = mock.method(PageTexts.prototype, 'take', async function (this: PageTexts, bytes) {
    const parts = await take.call(this, bytes)
    if (parts.length > 1) inSeveralParts++
    return parts
  } satisfies typeof take)
  return {
    get count() {
      return counted.mock.callCount()
    },
    get inSeveralParts() {
      return inSeveralParts
    },
    [Symbol.dispose]: () => counted.mock.restore(),
  }
}
