import assert from 'node:assert/strict'
import { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { HttpConnection, start, statusesOf, waiting } from '../../../test/support/http-connection.ts'

const get = (...lines: readonly string[]): string => ['GET /', 'Host: localhost', ...lines, '', ''].join('\r\n')
const request = (version: string, ...lines: readonly string[]): string =>
  get(...lines).replace('/', `/ HTTP/${version}`)

for (const [expectation, version, status] of [
  ['100-continue', '1.1', 200],
  ['100-Continue', '1.1', 200],
  ['more', '1.1', 417],
  ['more', '1.0', 200],
] as const)
  test(`a request that expects ${expectation}, of HTTP/${version}, is answered with ${status}`, async () => {
    await using server = await start()
    const client = new HttpConnection(server.port)
    client.write(request(version, `Expect: ${expectation}`, 'Connection: close'))
    assert.equal(statusesOf(await client.all()).at(-1), status)
  })

test('requests that expect something else wait for those before them on their connection, like others', async (t) => {
  const { service, asked, answer } = waiting()
  await using server = await start(service)
  let refused = 0
  const { writeHead } = ServerResponse.prototype
  t.mock.method(ServerResponse.prototype, 'writeHead', function (this: ServerResponse, ...given: [number]) {
    if (given[0] === 417) refused++
    return writeHead.apply(this, given)
  })
  const client = new HttpConnection(server.port)
  client.write(request('1.1') + request('1.1', 'Expect: more').repeat(100))
  while (asked.length === 0) await turn()
  for (let turns = 0; turns < 20; turns++) await turn()
  assert.ok(refused < 50, `${refused} are answered`)
  answer(0)
  while (statusesOf(client.received).length < 101) await turn()
  assert.equal(refused, 100)
  client.socket.destroy()
})
