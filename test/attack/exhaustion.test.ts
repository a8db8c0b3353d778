import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createService, type Service } from '../../src/index.ts'
import { type Answer, type Api, models, overHttp, overSockets } from '../integration/interface/api.ts'
import { CallCounter } from '../support/call-counter.ts'
import { bodyCases, type Case, cases, headerCases } from './exhaustion/cases.ts'

/*
 * Requests that try to use up the time or the memory of the service: each is refused with the limit that it exceeds before
 * a statement runs, or answered by a few of them, and by a bounded number of calls of the service's functions either way.
 */
const maxCalls = (bytes: number): number => 20_000 + bytes * 2
const maxStatements = 3

describe('exhaustion', () => {
  let service: Pick<Service, 'listen' | 'close' | 'handle'>
  const reported: unknown[] = []
  let counter: CallCounter
  let statements = 0
  before(async () => {
    service = await createService({
      models,
      database: 'sqlite::memory:',
      onError: (error) => reported.push(error),
      logger: {
        info() {},
        warn() {},
        error() {},
        debug(data) {
          if ((data as { kind?: string }).kind === 'statement') statements++
        },
      },
    })
    counter = await CallCounter.start()
  })
  after(async () => {
    counter[Symbol.dispose]()
    await service.close()
    assert.deepEqual(reported, [])
  })

  /** Fails when the service does more than it may for a request that is answered with this status. */
  async function cheaply<T extends { readonly status: number }>(work: () => Promise<T>, bytes = 0): Promise<T> {
    await counter.take()
    statements = 0
    const result = await work()
    const calls = await counter.take()
    assert.ok(calls < maxCalls(bytes), `${calls} calls of functions`)
    assert.ok(statements <= (result.status === 200 ? maxStatements : 0), `${statements} statements`)
    return result
  }

  const check = ({ status, body }: Answer, expected: Case) =>
    assert.deepEqual([status, body?.limit], [expected.status, expected.limit], JSON.stringify(body)?.slice(0, 300))

  for (const [transport, open] of Object.entries({ http: overHttp, sockets: overSockets })) {
    describe(`over ${transport}`, () => {
      let api: Api
      before(async () => {
        api = await open(service)
      })
      after(() => api[Symbol.asyncDispose]())

      for (const given of cases) {
        // Sockets have no JSONP.
        if (transport === 'sockets' && given.url.includes('callback')) continue
        test(given.name, async () => {
          const { url, json } = given
          const bytes = json === undefined ? 0 : JSON.stringify(json).length
          check(await cheaply(() => api.ask('GET', url, json === undefined ? undefined : { json }), bytes), given)
          assert.equal((await api.ask('GET', '/pet?limit=1')).status, 200, 'the service continues')
        })
      }
    })
  }

  describe('an answer that is encoded in parts', () => {
    const line = '\u2028é"'
    const rows = Array.from({ length: 400 }, (_, index) => ({ name: `${index} ${line.repeat(100)}` }))
    before(() =>
      service.handle({ method: 'POST', path: '/item', query: 'count=true', body: items, headers: {}, site: 'none' }),
    )
    const items = rows.map(({ name }) => ({ label: name }))
    const path = '/item?limit=1000&select=label'

    for (const [transport, open] of Object.entries({ http: overHttp, sockets: overSockets })) {
      test(`is the same over ${transport}`, async () => {
        await using api = await open(service)
        const { status, body } = await api.ask('GET', path)
        assert.equal(status, 200)
        assert.deepEqual(
          body.map(({ label }: { label: string }) => ({ label })),
          items,
        )
      })
    }

    test('is a script by JSONP', async () => {
      await using api = await overHttp(service)
      const { text } = await api.ask('GET', `${path}&callback=f`)
      assert.ok(!text.includes('\u2028'))
      const json = /^\/\*\*\/ typeof f === 'function' && f\((.*)\);$/.exec(text)?.[1] ?? ''
      assert.equal(JSON.parse(json).length, items.length)
    })
  })

  describe('in a header', () => {
    for (const [name, header, value] of headerCases) {
      test(name, async () => {
        await using server = await service.listen(0)
        const { status } = await cheaply(() => fetchWith(server.port, header, value))
        assert.ok([200, 400, 403, 431].includes(status), String(status))
      })
    }
  })

  describe('in a body', () => {
    for (const [name, type, body, limit] of bodyCases) {
      test(name, async () => {
        await using server = await service.listen(0)
        const headers = { 'Content-Type': type }
        const response = await cheaply(
          () => fetch(`${server.url}/user`, { method: 'POST', headers, body }),
          body.length,
        )
        assert.equal(((await response.json()) as { limit: string }).limit, limit)
        assert.equal(response.status, limit === 'maxXmlBytes' || limit === 'maxBodyBytes' ? 413 : 400)
      })
    }

    test('a compressed body is refused before it is expanded', async () => {
      await using server = await service.listen(0)
      const body = gzipSync(Buffer.alloc(100_000_000, 32))
      const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }
      const response = await cheaply(() => fetch(`${server.url}/pet`, { method: 'POST', headers, body }), body.length)
      assert.equal(response.status, 415)
    })

    test('a body without a length is refused once it is too long', async () => {
      await using server = await service.listen(0)
      const socket = connect(server.port, '127.0.0.1')
      let received = ''
      socket.setEncoding('utf8').on('data', (text) => {
        received += text
      })
      socket.on('error', () => {})
      socket.write('POST /pet HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n')
      // It has no end.
      const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
      const write = () => {
        while (!socket.destroyed && socket.write(chunk));
      }
      socket.on('drain', write)
      write()
      await new Promise((resolve) => socket.on('close', resolve))
      assert.match(received, /^HTTP\/1\.1 413 .*"limit":"maxBodyBytes"/s)
    })

    for (const [what, type] of [
      ['an external entity', '<!DOCTYPE v [<!ENTITY a SYSTEM "file:///etc/passwd">]>'],
      ['entities of entities', '<!DOCTYPE v [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'],
      ['a document type', '<!DOCTYPE v>'],
    ] as const)
      test(`XML with ${what} is refused`, async () => {
        await using server = await service.listen(0)
        const headers = { 'Content-Type': 'application/xml' }
        const body = `${type}<v><name>Ann</name></v>`
        const response = await fetch(`${server.url}/pet`, { method: 'POST', headers, body })
        assert.equal(response.status, 400)
        assert.match(((await response.json()) as { detail: string }).detail, /document type/)
      })

    test('what follows an understated length is not part of the request', async () => {
      await using server = await service.listen(0)
      const socket = connect(server.port, '127.0.0.1')
      let received = ''
      socket.setEncoding('utf8').on('data', (text) => {
        received += text
      })
      const body = '{"name":"short"}'
      const head = [
        'POST /pet HTTP/1.1',
        'Host: localhost',
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
      ]
      socket.write(`${head.join('\r\n')}\r\n\r\n${body}${'{"name":"more"}'.repeat(10)}\r\n\r\n`)
      await once(socket, 'close')
      // The connection ends, with or without a refusal of the rest.
      assert.equal(received.match(/HTTP\/1\.1 2\d\d/g)?.length, 1)
      const response = await fetch(`${server.url}/pet?populate=false`)
      assert.deepEqual(
        ((await response.json()) as { name: string }[]).map(({ name }) => name),
        ['short'],
      )
    })
  })
})

function fetchWith(port: number, header: string, value: string): Promise<{ readonly status: number }> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1')
    socket.setEncoding('utf8').on('data', (text) => {
      received += text
    })
    socket.on('close', () => resolve({ status: Number(received.split(' ', 2)[1]) }))
    socket.on('error', reject)
    socket.write(`GET /pet?limit=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${header}: ${value}\r\n\r\n`)
  })
}
