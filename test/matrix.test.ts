import assert from 'node:assert/strict'
import { Agent, request as httpRequest } from 'node:http'
import { after, before, describe, test } from 'node:test'
import type { Answer, Api, Given, Need, Scenario, Settings } from '../src/conformance/scenario.ts'
import { serviceConformance } from '../src/conformance/scenarios.ts'
import { zoo } from '../src/conformance/zoo.ts'
import { createService, type Service } from '../src/index.ts'
import { isEncoded, type Json } from '../src/protocol/json.ts'
import { type DatabaseKind, databases, type TestDatabase } from './databases.ts'

/** What is tested of a service; its records are only a way to empty it. */
interface ZooService extends Pick<Service, 'handle' | 'fetch' | 'listen' | 'close'> {
  readonly system: { readonly records: object }
}

interface OpenApi extends Api {
  close(): Promise<void>
}

/** One way to carry requests to a service and answers back. */
interface Transport {
  readonly name: string
  readonly lacks: readonly Need[]
  open(service: ZooService): Promise<OpenApi>
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | undefined
}

function sent(method: string, path: string, { body, text, headers }: Given = {}): Sent {
  if (body === undefined) return { method, path, headers: headers ?? {}, text }
  return { method, path, headers: { 'content-type': 'application/json', ...headers }, text: JSON.stringify(body) }
}

const answer = (status: number, header: Answer['header'], text: string): Answer => ({
  status,
  header,
  text,
  get body() {
    return text === '' ? undefined : (JSON.parse(text) as Json)
  },
})

const overHttp: Transport = {
  name: 'http',
  lacks: [],
  async open(service) {
    const server = await service.listen(0)
    const agent = new Agent({ keepAlive: true })
    const carry = ({ method, path, headers, text }: Sent) =>
      new Promise<Answer>((resolve, reject) => {
        const length = text === undefined ? {} : { 'content-length': String(Buffer.byteLength(text)) }
        const options = { agent, port: server.port, method, path, headers: { ...headers, ...length } }
        const request = httpRequest(options, (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            const header = (name: string) => response.headers[name]?.toString()
            resolve(answer(response.statusCode as number, header, Buffer.concat(chunks).toString()))
          })
        })
        request.on('error', reject)
        request.end(text)
      })
    return {
      request: (method, path, given) => carry(sent(method, path, given)),
      async close() {
        agent.destroy()
        await server.stop()
      },
    }
  },
}

const overFetch: Transport = {
  name: 'fetch',
  lacks: ['anyRequest'],
  open: async (service) => ({
    async request(method, path, given) {
      const { headers, text } = sent(method, path, given)
      const request = new Request(`http://zoo.test${path}`, {
        method,
        headers,
        ...(text !== undefined && { body: text }),
      })
      const response = await service.fetch(request)
      return answer(response.status, (name) => response.headers.get(name) ?? undefined, await response.text())
    },
    close: async () => {},
  }),
}

/** Code in the same process: nothing is parsed and nothing encoded that was not. */
const inProcess: Transport = {
  name: 'in-process',
  lacks: ['bytes', 'anyRequest'],
  open: async (service) => ({
    async request(method, address, given) {
      assert.equal(given?.text, undefined, 'a scenario with a raw body must say that it needs bytes')
      const mark = address.indexOf('?')
      const [path, query] = mark === -1 ? [address, ''] : [address.slice(0, mark), address.slice(mark + 1)]
      const headers = given?.headers ?? {}
      const response = await service.handle({ method, path, query, body: given?.body, headers })
      const found = new Map(Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value]))
      const { body } = response
      const text = body === undefined ? '' : isEncoded(body) ? body.encoded : JSON.stringify(body)
      return answer(response.status, (name) => found.get(name), text)
    },
    close: async () => {},
  }),
}

const transports = [overHttp, overFetch, inProcess]

/** Those that something must point to come last. */
const emptiedInOrder = [
  'feeding',
  'ticket',
  'shift',
  'team',
  'animal',
  'keeper',
  'enclosure',
  'specimen',
  'reading',
  'order',
  'chart',
]

interface LooseRecords {
  find(): Promise<{ readonly data: readonly { readonly id?: string; readonly code?: string }[] }>
  destroy(id: string | undefined): Promise<unknown>
}

async function empty({ system }: ZooService): Promise<void> {
  const records = system.records as Readonly<Record<string, LooseRecords>>
  for (const name of emptiedInOrder) {
    const { find, destroy } = records[name] as LooseRecords
    for (;;) {
      const { data } = await find()
      if (data.length === 0) break
      for (const { id, code } of data) await destroy(id ?? code)
    }
  }
}

function runAll(settings: Settings, scenarios: readonly Scenario[], database: DatabaseKind): void {
  const reported: unknown[] = []
  let opened: TestDatabase
  let service: ZooService
  before(async () => {
    opened = await database.open()
    const report = (error: unknown) => reported.push(error)
    service = await createService({ ...settings, models: zoo, database: opened.url, report })
  })
  after(async () => {
    await service.close()
    await opened[Symbol.asyncDispose]()
  })

  for (const transport of transports) {
    describe(transport.name, () => {
      let api: OpenApi
      before(async () => {
        api = await transport.open(service)
      })
      after(() => api.close())
      for (const { name, needs = [], run } of scenarios) {
        const lacking = needs.find((need) => transport.lacks.includes(need))
        const skip = lacking !== undefined && `${transport.name} cannot carry ${lacking}`
        test(name, { skip }, async () => {
          await empty(service)
          reported.length = 0
          await run(api)
          assert.deepEqual(reported, [], 'no scenario may meet an error that nobody expected')
        })
      }
    })
  }
}

/** Scenarios that want the same settings share a service. */
const bySettings = Map.groupBy(serviceConformance, ({ settings = {} }) => JSON.stringify(settings))

for (const database of databases) {
  describe(database.name, { skip: database.missing ?? false }, () => {
    for (const [text, scenarios] of bySettings) {
      describe(`settings ${text}`, () => runAll(JSON.parse(text), scenarios, database))
    }
  })
}
