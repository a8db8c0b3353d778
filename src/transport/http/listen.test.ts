import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  close,
  echo,
  HttpConnection,
  limits,
  sent,
  start,
  statusesOf,
  statusOf,
  waiting,
} from '../../../test/support/http-connection.ts'

describe('a valid request is served', () => {
  test('with 10 kB of headers', async () => {
    await using server = await start()
    assert.equal(
      statusOf(await sent(server, 'GET /pet HTTP/1.1', 'Host: localhost', close, `A: ${'a'.repeat(10_000)}`, '', '')),
      200,
    )
  })

  test('with a URL up to the limit; a longer one gets 414', async () => {
    await using server = await start()
    const ask = (bytes: number): Promise<string> =>
      sent(server, `GET /${'a'.repeat(bytes - 1)} HTTP/1.1`, 'Host: localhost', close, '', '')
    assert.equal(statusOf(await ask(limits.maxUrlBytes)), 200)
    assert.equal(statusOf(await ask(limits.maxUrlBytes + 1)), 414)
  })

  test('with an absolute URL, as proxies send it', async () => {
    await using server = await start()
    assert.match(
      await sent(server, 'GET http://LOCALHOST/pet?a=1 HTTP/1.1', 'Host: localhost', close, '', ''),
      /"path":"\/pet"/,
    )
    assert.equal(statusOf(await sent(server, 'GET http://y/pet?a=1 HTTP/1.1', 'Host: localhost', close, '', '')), 400)
  })

  test('pipelined, in order', async () => {
    const { service, answer, asked } = waiting()
    await using server = await start(service)
    const client = new HttpConnection(server.port)
    const body = '{"n":2}'
    client.write(
      'GET /1 HTTP/1.1',
      'Host: localhost',
      '',
      'GET /2 HTTP/1.1',
      'Host: localhost',
      `Content-Length: ${body.length}`,
      '',
      `${body}GET /3 HTTP/1.1`,
      'Host: localhost',
      close,
      '',
      '',
    )
    while (asked.length < 3) await sleep(1)
    for (const index of [2, 1, 0]) answer(index)
    const answers = await client.all()
    assert.deepEqual(
      [...answers.matchAll(/"path":"(.*?)"/g)].map(([, path]) => path),
      ['/1', '/2', '/3'],
    )
  })

  test('with a body that arrives byte by byte', async () => {
    await using server = await start()
    const client = new HttpConnection(server.port)
    client.write('POST /pet HTTP/1.1', 'Host: localhost', close, 'Content-Length: 14', '', '')
    for (const byte of '{"name":"Rex"}') {
      client.write(byte)
      await sleep(1)
    }
    assert.match(await client.all(), /"body":\{"name":"Rex"\}/)
  })

  test('with a body in chunks of one byte', async () => {
    await using server = await start()
    const chunks = [...'{"name":"Rex"}'].map((byte) => `1\r\n${byte}\r\n`).join('')
    const headers = ['POST /pet HTTP/1.1', 'Host: localhost', close, 'Transfer-Encoding: chunked']
    assert.match(await sent(server, ...headers, '', `${chunks}0\r\n\r\n`), /"body":\{"name":"Rex"\}/)
  })

  test('with a body on a GET, which is parsed like any body', async () => {
    await using server = await start()
    const answers = await sent(
      server,
      'GET /1 HTTP/1.1',
      'Host: localhost',
      'Content-Length: 3',
      '',
      '{ }GET /2 HTTP/1.1',
      'Host: localhost',
      close,
      '',
      '',
    )
    assert.deepEqual(statusesOf(answers), [200, 200])
    assert.match(answers, /"path":"\/1","body":\{\}.*"path":"\/2"/s)
  })

  test('on the same connection after a refused body', async () => {
    await using server = await start()
    const answers = await sent(
      server,
      'POST / HTTP/1.1',
      'Host: localhost',
      'Content-Length: 1',
      '',
      '{GET /2 HTTP/1.1',
      'Host: localhost',
      close,
      '',
      '',
    )
    assert.deepEqual(statusesOf(answers), [400, 200])
  })

  test('that expects 100-continue', async () => {
    await using server = await start()
    const client = new HttpConnection(server.port)
    client.write('POST / HTTP/1.1', 'Host: localhost', close, 'Expect: 100-continue', 'Content-Length: 2', '', '')
    await client.until(/100 Continue\r\n\r\n/)
    client.write('{}')
    assert.deepEqual(statusesOf(await client.all()), [100, 200])
  })
})

describe('listen', () => {
  test('returns its URL', async () => {
    const hosts: readonly [host: string | undefined, url: RegExp][] = [
      [undefined, /^http:\/\/127\.0\.0\.1:\d+$/],
      ['0.0.0.0', /^http:\/\/localhost:\d+$/],
      ['localhost', /^http:\/\/localhost:\d+$/],
    ]
    for (const [host, url] of hosts) {
      await using server = await start(echo, { host })
      assert.match(server.url, url)
      assert.equal(statusOf(await sent(server, 'GET / HTTP/1.1', 'Host: localhost', close, '', '')), 200)
    }
  })

  test('rejects when the port is in use', async () => {
    await using server = await start()
    await assert.rejects(start(echo, { port: server.port }), (error: NodeJS.ErrnoException) => {
      assert.equal(error.code, 'EADDRINUSE')
      return error.message === `Port ${server.port} on 127.0.0.1 is already in use by another program`
    })
  })

  test('rejects when the address is not local', async () => {
    await assert.rejects(start(echo, { host: '192.0.2.1' }), {
      code: 'EADDRNOTAVAIL',
      message: /not an address of this machine/,
    })
  })
})
