import assert from 'node:assert/strict'
import { test } from 'node:test'
import { executeMessages } from './execute-messages.ts'

interface Message {
  readonly kind: string
  readonly content: Buffer
}

function messagesIn(bytes: Buffer): readonly Message[] {
  const messages: Message[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + bytes.readUInt32BE(at + 1)
    messages.push({ kind: String.fromCharCode(bytes[at] as number), content: bytes.subarray(at + 5, end) })
    at = end
  }
  return messages
}

/** As the server reads it. */
function boundIn({ content }: Message): { readonly statement: string; readonly values: readonly (string | null)[] } {
  const portalEnd = content.indexOf(0)
  const statementEnd = content.indexOf(0, portalEnd + 1)
  const statement = content.toString('utf8', portalEnd + 1, statementEnd)
  assert.equal(portalEnd, 0, 'the portal without a name')
  assert.equal(content.readInt16BE(statementEnd + 1), 0, 'no formats of values')
  const values: (string | null)[] = []
  let at = statementEnd + 5
  for (let count = content.readUInt16BE(statementEnd + 3); count > 0; count--) {
    const length = content.readInt32BE(at)
    at += 4
    values.push(length === -1 ? null : content.toString('utf8', at, at + length))
    at += Math.max(length, 0)
  }
  assert.equal(content.readInt16BE(at), 0, 'no formats of results')
  assert.equal(at + 2, content.length)
  return { statement, values }
}

const long = 'x'.repeat(70_000)
const cases: readonly (readonly unknown[])[] = [
  [],
  ['1'],
  ['', null, undefined, 'Rex'],
  ['é', 'Zürich', '🐕', `${'x'.repeat(31)}`, 'x'.repeat(32), 'x'.repeat(33), `${'x'.repeat(30)}é`],
  [long, `${long}é`, 7, -1.5, true, 12n],
  Array.from({ length: 40_000 }, (_, index) => String(index)),
]

for (const [number, values] of cases.entries()) {
  test(`values arrive as texts: ${number}`, () => {
    const expected = values.map((value) => (value === null || value === undefined ? null : String(value)))
    for (const statement of ['', 'k1', 'k123456']) {
      const [bind, execute, sync, ...others] = messagesIn(executeMessages(statement, values, true))
      assert.equal(bind?.kind, 'B')
      assert.deepEqual(boundIn(bind as Message), { statement, values: expected })
      assert.equal(execute?.kind, 'E')
      assert.deepEqual([...(execute?.content ?? [])], [0, 0, 0, 0, 0], 'all rows of the portal without a name')
      assert.equal(sync?.kind, 'S')
      assert.equal(others.length, 0)
    }
  })
}

test('only the last statement ends the request', () =>
  assert.deepEqual(
    messagesIn(executeMessages('k1', ['1'], false)).map(({ kind }) => kind),
    ['B', 'E'],
  ))
