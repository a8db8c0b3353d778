import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, connect, createServer, type OutgoingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { createService } from 'keelson'

async function ask(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string) {
  const stream = session.request({ 'content-type': 'application/json', ...headers }, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  const [answered] = await once(stream, 'response')
  return { status: answered[':status'], body: JSON.parse(await text(stream)) }
}

test('the handler serves an HTTP/2 server: bodies without a length, pages of its own origin, and the hosts it accepts', async () => {
  await using service = await createService({
    database: 'sqlite::memory:',
    models: { pet: { attributes: { name: { type: 'string', required: true } } } },
  })
  const server = createServer(service.handler as never).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const session = connect(origin)
  try {
    const post = { ':method': 'POST', ':path': '/pet' }
    const created = await ask(session, { ...post, origin }, '{"name":"Rex"}')
    assert.deepEqual([created.status, created.body.name], [201, 'Rex'])
    const updated = await ask(session, { ':method': 'PATCH', ':path': '/pet/1' }, '{"name":"Max"}')
    assert.deepEqual([updated.status, updated.body.name], [200, 'Max'])
    assert.equal((await ask(session, { ':path': '/pet' })).body.length, 1)
    assert.equal((await ask(session, { ...post, origin: 'http://evil.test' }, '{"name":"Tom"}')).status, 403)
    const rebound = await ask(session, { ':path': '/pet', ':authority': 'evil.test' })
    assert.notEqual(rebound.status, 200)
  } finally {
    session.destroy()
    server.close()
  }
})
