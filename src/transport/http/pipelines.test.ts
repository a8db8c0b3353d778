import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { defaultLimits } from '../../support/limits.ts'
import { handler } from './serve.ts'

const compute = (ms: number): void => {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('many requests in one piece are answered in order, and others have their turn in between', async (t) => {
  const count = 40
  let turns = 0
  const paths: string[] = []
  const handle = ({ path }: { readonly path: string }) => {
    paths.push(path)
    compute(3)
    return { status: 200, headers: {}, body: path }
  }
  const server = createServer(handler({ handle }, defaultLimits)).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const timer = setInterval(() => turns++, 0)
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1')
  const expected = Array.from({ length: count }, (_, index) => `/${index}`)
  const post = 'POST /last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}'
  socket.write(expected.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join('') + post)
  let received = ''
  socket.setEncoding('utf8').on('data', (text) => {
    received += text
  })
  await once(socket, 'close')
  clearInterval(timer)
  assert.deepEqual(paths, [...expected, '/last'])
  assert.deepEqual(
    [...received.matchAll(/"(\/\w+)"/g)].map(([, path]) => path),
    [...expected, '/last'],
  )
  assert.ok(turns >= 5, `${turns} turns of the event loop`)
})
