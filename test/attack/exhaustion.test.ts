import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createService, type Service } from '../../src/index.ts'
import type { Json } from '../../src/protocol/json.ts'
import { type Answer, type Api, models, overHttp, overSockets } from '../integration/interface/api.ts'
import { CallCounter } from '../support/call-counter.ts'

/*
 * Requests that try to use up the time or the memory of the service: each is refused with the limit that it exceeds before
 * a statement runs, or answered by a few of them, and by a bounded number of calls of the service's functions either way.
 */
const maxCalls = (bytes: number): number => 20_000 + bytes * 2
const maxStatements = 3

const nested = (word: 'or' | 'not', levels: number): string =>
  word === 'not'
    ? `${'{"not":'.repeat(levels)}{}${'}'.repeat(levels)}`
    : `${'{"or":['.repeat(levels)}{}${']}'.repeat(levels)}`
/** Each level contains the next one three times. */
const tripled = (levels: number): Json =>
  levels === 0 ? { name: 'a' } : { or: Array.from({ length: 3 }, () => tripled(levels - 1)) }
const populateChain = (levels: number): Json =>
  levels === 0 ? {} : { owner: { populate: { pets: { populate: populateChain(levels - 1) } } } }
const query = (parameters: Readonly<Record<string, Json>>): string =>
  new URLSearchParams(
    Object.entries(parameters).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ).toString()

const empty = (count: number): Json[] => Array.from({ length: count }, () => ({}))

interface Case {
  readonly name: string
  readonly url: string
  readonly json?: Json
  readonly status: number
  readonly limit?: string
}

const refused = (name: string, url: string, limit: string, json?: Json): Case => ({
  name,
  url,
  status: 400,
  limit,
  ...(json !== undefined && { json }),
})

const cases: readonly Case[] = [
  // Deep and exponential conditions.
  refused('10 levels of or', `/pet?${query({ where: nested('or', 10) })}`, 'maxDepth'),
  refused('300 levels of not', `/pet?${query({ where: nested('not', 300) })}`, 'maxDepth'),
  refused('100,000 levels of not, as text in a body', '/pet', 'maxDepth', { where: nested('not', 100_000) }),
  refused('50,000 levels of or, as text in a body', '/pet', 'maxDepth', { where: nested('or', 50_000) }),
  refused('a condition that triples at each of 6 levels', '/pet', 'maxConditionCost', { where: tripled(6) }),
  refused('700 empty conditions', '/pet', 'maxConditionCost', {
    where: { or: Array.from({ length: 700 }, () => ({})) },
  }),
  refused('90 conditions through an association', '/user', 'maxConditionCost', {
    where: { or: Array.from({ length: 90 }, () => ({ pets: { name: 'a' } })) },
  }),
  refused('99 patterns', '/pet', 'maxConditionCost', {
    where: { or: Array.from({ length: 99 }, (_, index) => ({ name: { like: `%${'a%'.repeat(index)}` } })) },
  }),
  refused('a pattern of 100,000 wildcards', '/pet', 'maxPatternLength', {
    where: { name: { like: '%_'.repeat(50_000) } },
  }),
  refused('a list of 100,000 values', '/pet', 'maxListItems', {
    where: { id: { in: Array.from({ length: 100_000 }, (_, index) => index) } },
  }),
  refused('50 lists of 500 values', '/pet', 'maxConditionCost', {
    where: { or: Array.from({ length: 50 }, () => ({ id: Array.from({ length: 500 }, (_, id) => id) })) },
  }),
  // What has a cost of its own adds to the cost of the condition: a combination of 294 is within the limit.
  refused('a condition and populated associations', '/pet', 'maxConditionCost', {
    where: { or: empty(294) },
    populate: { owner: {}, toys: {} },
  }),
  refused('a condition and one of a populated association', '/pet', 'maxConditionCost', {
    where: { or: empty(200) },
    populate: { owner: { where: { or: empty(200) } } },
  }),
  refused('a condition and a sort order', '/pet', 'maxConditionCost', {
    where: { or: empty(294) },
    sort: 'name,owner.name',
  }),
  {
    name: 'a condition within the limit',
    url: `/pet?${query({ where: { or: empty(294) }, populate: 'false' })}`,
    status: 200,
  },
  refused('9 sort attributes', '/user', 'maxSortKeys', {
    sort: ['id', 'name', 'age', 'createdAt', 'updatedAt', 'name', 'id', 'age', 'name'],
  }),
  // Pages.
  refused('a limit of 1e9', '/pet?limit=1000000000', 'maxLimit'),
  refused('a skip of 1e12', '/pet?skip=1000000000000', 'maxSkip'),
  ...['limit=-1', 'limit=1.5', 'limit=NaN', 'limit=Infinity', 'limit=1e309', 'skip=-1', 'limit[]=1&limit[]=2'].map(
    (text): Case => ({ name: text, url: `/pet?${text}`, status: 400 }),
  ),
  // Parameters.
  refused('5,000 parameters', `/pet?${'a&'.repeat(5_000)}`, 'maxParameters'),
  refused('an index of 1e9 in brackets', '/pet?where[or][1000000000][name]=a', 'maxParameters'),
  refused('1,000 levels of brackets', `/pet?where${'[a]'.repeat(1_000)}=1`, 'maxParameterDepth'),
  { name: 'an address of 16,000 bytes', url: `/pet?name=${'a'.repeat(15_990)}`, status: 200 },
  // Populate.
  refused('a cycle of populated associations', '/pet', 'maxPopulateDepth', { populate: populateChain(4) }),
  // The limit counts records that are found, and here are few.
  {
    name: '1,000 records with 1,000 each',
    url: `/user?${query({ limit: '1000', populate: { pets: { limit: 1_000 } } })}`,
    status: 200,
  },
  { name: 'an association named 2,000 times', url: `/pet?populate=${'owner,'.repeat(2_000)}owner`, status: 200 },
  {
    name: 'sort attributes by the thousand',
    url: `/pet?sort=${'name,'.repeat(2_000)}name`,
    status: 400,
    limit: 'maxConditionCost',
  },
  // Patterns with catastrophic backtracking, where a parser might use one.
  { name: 'a callback of many members', url: `/pet?callback=${'a.'.repeat(7_000)}`, status: 400 },
  { name: 'a date of many digits', url: `/pet?createdAt=${'1'.repeat(15_000)}-`, status: 400 },
  { name: 'a number of many digits', url: `/user?age=${'1'.repeat(15_000)}x`, status: 400 },
  { name: 'a key of many digits', url: `/user/${'1'.repeat(15_000)}x`, status: 404 },
]

const headerCases: readonly (readonly [name: string, header: string, value: string])[] = [
  ['entity tags', 'If-None-Match', '"a",'.repeat(3_500)],
  ['an open entity tag', 'If-None-Match', `"${'a'.repeat(14_000)}`],
  ['media types', 'Accept', 'text/html;q=0.1,'.repeat(900)],
  ['parameters of a media type', 'Accept', `text/event-stream${';a=b'.repeat(3_000)}x`],
  ['blanks', 'Accept', `a${' '.repeat(14_000)}/`],
  ['cookies', 'Cookie', 'a=b; '.repeat(2_800)],
  ['an origin', 'Origin', `http://${'a.'.repeat(7_000)}`],
  ['a referrer', 'Referer', `http://${'a@'.repeat(7_000)}`],
]

const many = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => text(i)).join('')
const part = (index: number) => `--b\r\nContent-Disposition: form-data; name="a${index}"\r\n\r\n1\r\n`
/** Nearly as long as a body may be. */
const bodyCases: readonly (readonly [name: string, type: string, body: string, limit: string])[] = [
  ['JSON of 90,000 names', 'application/json', `{${many(90_000, (i) => `"a${i}":1,`)}"b":1}`, 'maxJsonValues'],
  ['JSON of 300,000 empty objects', 'application/json', `[${'{},'.repeat(300_000)}{}]`, 'maxJsonValues'],
  [
    'JSON of 16,000 lists of 30 levels',
    'application/json',
    `[${`${'['.repeat(30)}${']'.repeat(30)},`.repeat(16_000)}1]`,
    'maxJsonValues',
  ],
  ['JSON of 500,000 levels', 'application/json', '['.repeat(500_000) + ']'.repeat(500_000), 'maxJsonDepth'],
  ['XML of 20,000 attributes', 'application/xml', `<v ${many(20_000, (i) => `a${i}="1" `)}/>`, 'maxParameters'],
  ['XML of 20,000 elements', 'application/xml', `<v>${'<a>1</a>'.repeat(20_000)}</v>`, 'maxParameters'],
  ['XML of 80,000 entities', 'application/xml', `<v><name>${'&#233;'.repeat(80_000)}</name></v>`, 'maxXmlBytes'],
  ['XML of 100 levels', 'application/xml', `${'<a>'.repeat(100)}${'</a>'.repeat(100)}`, 'maxJsonDepth'],
  ['JSON of 2 MB', 'application/json', `{"name":"${'a'.repeat(2_000_000)}"}`, 'maxBodyBytes'],
  ['a form of 80,000 values', 'application/x-www-form-urlencoded', many(80_000, (i) => `a${i}=%41&`), 'maxParameters'],
  ['10,000 parts', 'multipart/form-data; boundary=b', `${many(10_000, part)}--b--\r\n`, 'maxParameters'],
]

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
