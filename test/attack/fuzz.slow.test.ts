import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createService, type JsonObject } from '../../src/index.ts'
import { Random } from '../support/random.ts'
import { type HostileRequest, hostileRequest } from './hostile-requests.ts'

/** Another run: `KEELSON_FUZZ_SEED=7 KEELSON_FUZZ_REQUESTS=1000000 npm test -- test/attack/fuzz.slow.test.ts`. */
const seed = Number(process.env.KEELSON_FUZZ_SEED ?? 1)
const total = Number(process.env.KEELSON_FUZZ_REQUESTS ?? 40_000)
const overSockets = Math.floor(total / 10)

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const open = (problems: unknown[]) =>
  createService({
    database: 'sqlite::memory:',
    onError: (error) => problems.push(error),
    models: {
      owner: {
        attributes: {
          name: { type: 'string', required: true },
          pets: { collection: 'pet', via: 'owner' },
          likes: { collection: 'pet' },
        },
      },
      pet: {
        attributes: {
          name: { type: 'string', required: true, maxLength: 80 },
          kind: { type: 'string', isIn: ['cat', 'dog'], defaultsTo: 'cat' },
          age: { type: 'number', isInteger: true },
          born: { type: 'datetime' },
          extra: { type: 'json' },
          owner: { model: 'owner' },
          tags: { collection: 'tag', via: 'pets' },
        },
      },
      tag: { attributes: { label: { type: 'string', unique: true }, pets: { collection: 'pet', via: 'tags' } } },
    },
  })

/** Restores destroyed records, so that later requests find some. */
async function restock(service: Awaited<ReturnType<typeof open>>): Promise<void> {
  const ask = (path: string, body: JsonObject) =>
    service.handle({ method: 'POST', path, query: '', headers: {}, site: 'none', body })
  for (const id of [1, 2, 3]) {
    await ask('/owner', { id, name: 'Ann' })
    await ask('/pet', { id, name: 'Rex', age: id, owner: 1 })
    await ask('/tag', { id, label: `tag ${id}`, pets: [1, id] })
  }
}

const shown = ({ method, target, headers, body }: HostileRequest): string =>
  `${method} ${target.slice(0, 500)} ${JSON.stringify(headers)} ${body === undefined ? '' : Buffer.from(body).toString().slice(0, 500)}`

function send(port: number, { method, target, headers, body }: HostileRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    // Node's client sends no Content-Length for the body of a DELETE by default.
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }
    const sent = request({ port, method, path: target, headers: { ...headers, ...length } }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

test(`${total} hostile requests: no 5xx, no reset, no growth (seed ${seed})`, async (t) => {
  const problems: unknown[] = []
  const service = await open(problems)
  const server = await service.listen(0)
  const random = new Random(seed)
  const statuses = new Map<number, number>()
  const count = (status: number, sent: HostileRequest) => {
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    assert.ok(
      status < 500,
      `${status} for ${shown(sent)}\n${problems.map((problem) => (problem as Error).stack).join('\n')}`,
    )
  }
  let settled = 0
  try {
    for (let index = 0; index < total; index++) {
      if (index % 100 === 0) await restock(service)
      const sent = hostileRequest(random)
      if (index % 10 === 0) {
        // Node's client refuses characters that an address must not contain; those are passed to `service.handle` below.
        const target = sent.target.replace(/[^\x21-\x7e]/g, '')
        count(
          await send(server.port, { ...sent, target }).catch((error) => assert.fail(`${error} for ${shown(sent)}`)),
          sent,
        )
      } else {
        const { method, target, headers, body } = sent
        const { pathname, search } = new URL(`http://service.test${target.startsWith('//') ? `/.${target}` : target}`)
        const response = await service.handle({
          method,
          path: pathname,
          query: search.slice(1),
          headers: lower(headers),
          site: index % 2 === 0 ? 'none' : 'cross-site',
          body: parsed(body),
        })
        count(response.status, sent)
      }
      if (index === Math.floor(total / 2)) {
        collect()
        settled = process.memoryUsage().heapUsed
      }
    }
    collect()
    const growth = process.memoryUsage().heapUsed - settled
    t.diagnostic(
      `${[...statuses]
        .sort(([a], [b]) => a - b)
        .map(([status, times]) => `${status}: ${times}`)
        .join(', ')}; ${overSockets} over sockets; heap ${(growth / 1e6).toFixed(1)} MB in the second half`,
    )
    assert.ok((statuses.get(200) ?? 0) + (statuses.get(201) ?? 0) > total / 10, 'too few requests succeeded')
    assert.ok(growth < 48e6, `the heap grew by ${growth} bytes`)
    assert.deepEqual(problems, [])
    assert.equal((await fetch(`${server.url}/owner?limit=1`)).status, 200)
  } finally {
    await service.close()
  }
})

const lower = (headers: HostileRequest['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** The parsed JSON body, as a transport passes it on; other bodies are sent over a connection only. */
function parsed(body: HostileRequest['body']): never {
  try {
    const value = typeof body === 'string' ? JSON.parse(body) : undefined
    return (typeof value === 'object' ? (value ?? undefined) : undefined) as never
  } catch {
    return undefined as never
  }
}
