import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import { ByteBudget } from '../../byte-budget.ts'
import type { Row } from '../../driver.ts'
import { MessageReader } from './data-rows.ts'
import { textQueries } from './text-query.ts'

const long = 'x'.repeat(5_000)
const rows: readonly Row[] = [
  ['1', 'Rex', null, '2025-06-15 15:06:41.512+00'],
  ['', 'é', 'Zürich and more text', 'no accents here'],
  ['🐕', 'aé', 'abé', 'abcé', 'abcdé', 'éabcd', 'abcdeéfghijk'],
  [],
  [null],
  [long, 'short', `${long}é`],
  ['\u007f', '\u0080', '\u00ff', '\ud7ff', '\uffff'],
]

function message(kind: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5, kind)
  head.writeUInt32BE(content.length + 4, 1)
  return Buffer.concat([head, content])
}

function rowMessage(row: Row): Buffer {
  const count = Buffer.alloc(2)
  count.writeUInt16BE(row.length)
  const values = row.map((value) => {
    const bytes = Buffer.from((value as string | null) ?? '')
    const length = Buffer.alloc(4)
    length.writeInt32BE(value === null ? -1 : bytes.length)
    return Buffer.concat([length, bytes])
  })
  return message('D', Buffer.concat([count, ...values]))
}

/** What a server sends for two statements: bound, their rows, completed, ready. */
const bound = message('2', Buffer.alloc(0))
const completed = message('C', Buffer.from('SELECT 7\0'))
const ready = message('Z', Buffer.from('I'))
const results = [bound, ...rows.map(rowMessage), completed, bound, completed, ready]
const sent = Buffer.concat([...results, ...results])

/** What was read, in order: a row, or a kind of message for each other one. */
interface Found {
  readonly read: unknown[]
  rowBytes: number
}

/** The reader of a connection, and what it has read. */
function open(): { readonly reader: MessageReader; readonly found: Found } {
  const found: Found = { read: [], rowBytes: 0 }
  const reader = new MessageReader(
    (some) => {
      found.read.push(...some.rows)
      found.rowBytes += some.length
    },
    (others) => {
      for (let at = 0; at < others.length; at += 1 + others.readUInt32BE(at + 1))
        found.read.push(String.fromCharCode(others[at] as number))
    },
  )
  return { reader, found }
}

function read(chunks: Iterable<Buffer>): Found {
  const { reader, found } = open()
  for (const chunk of chunks) reader.read(chunk)
  return found
}

function* chunksOf(bytes: Buffer, length: number): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

describe('rows of a server', () => {
  const once = ['2', ...rows, 'C', '2', 'C', 'Z']
  const expected = {
    read: [...once, ...once],
    rowBytes: 2 * rows.reduce((sum, row) => sum + rowMessage(row).length, 0),
  }

  test('are read between all other messages', () => assert.deepEqual(read([sent]), expected))

  test('are the same however their bytes arrive', () => {
    for (const length of [1, 2, 3, 4, 5, 6, 7, 11, 64, 1_000, 5_003, 20_000])
      assert.deepEqual(read(chunksOf(sent, length)), expected, `${length} bytes at a time`)
  })

  test('are the same when the chunks of two connections alternate', () => {
    const others = Buffer.concat(rows.toReversed().map(rowMessage))
    for (const length of [1, 2, 3, 4, 5, 6, 7, 11, 64, 1_000]) {
      const [one, other] = [open(), open()]
      const otherChunks = [...chunksOf(others, length)]
      for (const chunk of chunksOf(sent, length)) {
        one.reader.read(chunk)
        const next = otherChunks.shift()
        if (next) other.reader.read(next)
      }
      assert.deepEqual(one.found, expected, `${length} bytes at a time`)
      assert.deepEqual(other.found.read, rows.toReversed(), `${length} bytes at a time`)
    }
  })

  test('are the same wherever one chunk ends', () => {
    const short = Buffer.concat([bound, ...rows.slice(0, 4).map(rowMessage), completed, ready])
    const whole = read([short])
    for (let end = 1; end < short.length; end++)
      assert.deepEqual(read([short.subarray(0, end), short.subarray(end)]), whole, `the first has ${end} bytes`)
  })
})

describe('a query', () => {
  const makeQuery = textQueries(pg.Query)
  const request = { text: 'select', values: [], how: 'kept' } as const
  const run = (budget?: ByteBudget, failure?: Error): Promise<readonly Row[]> =>
    new Promise((resolve, reject) => {
      const query = makeQuery({ ...request, budget }, () => 0, resolve, reject) as unknown as {
        handleDataRow(message: object): void
        handleReadyForQuery(): void
        handleError(error: unknown): void
      }
      query.handleDataRow({ rows: [['1'], ['2']], length: 20 })
      query.handleDataRow({ fields: ['3'], length: 10 })
      if (failure) query.handleError(failure)
      query.handleReadyForQuery()
    })

  test('takes rows together, and one by one from the parser of pg', async () =>
    assert.deepEqual(await run(), [['1'], ['2'], ['3']]))

  test('counts their bytes', async () => {
    assert.equal((await run(new ByteBudget(15))).length, 3)
    await assert.rejects(run(new ByteBudget(14)))
  })

  test('that fails is repeated with the whole budget', async () => {
    const budget = new ByteBudget(15)
    await assert.rejects(run(budget, new Error('lost')), /lost/)
    assert.equal((await run(budget)).length, 3)
  })
})
