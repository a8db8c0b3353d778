import assert from 'node:assert/strict'
import { Agent, request as httpRequest } from 'node:http'
import type { ModelDefinitions, Service } from '../../../src/index.ts'
import type { Json } from '../../../src/protocol/json.ts'
import { RawSocket } from '../../support/raw-socket.ts'

export const models = {
  user: {
    attributes: {
      name: { type: 'string', required: true },
      age: { type: 'number', isInteger: true, allowNull: true },
      extra: { type: 'json' },
      pets: { collection: 'pet', via: 'owner' },
    },
  },
  pet: {
    attributes: {
      name: { type: 'string' },
      owner: { model: 'user' },
      toys: { collection: 'toy', via: 'pets' },
    },
  },
  /** Its primary key is a string under another name. */
  toy: {
    primaryKey: 'sku',
    attributes: {
      sku: { type: 'string', required: true },
      title: { type: 'string' },
      pets: { collection: 'pet', via: 'toys' },
    },
  },
  item: { attributes: { label: { type: 'string' } } },
  /** Has an attribute with the name of a parameter. */
  hook: { attributes: { callback: { type: 'string' } } },
} as const satisfies ModelDefinitions

/** The body of a request: a JSON value, or text of another media type. */
export type Body = { readonly json: Json } | { readonly type: string; readonly text: string }

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the type of its answer
  readonly body: any
  /** The raw text; over sockets '' . */
  readonly text: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** A client of one service over one transport. */
export interface Api extends AsyncDisposable {
  ask(method: string, url: string, body?: Body): Promise<Answer>
  /** A further client over a socket. */
  connect(): Promise<RawSocket>
}

type Listening = Pick<Service, 'listen'>

export async function overHttp(service: Listening): Promise<Api> {
  const server = await service.listen(0)
  const { url } = server
  const agent = new Agent({ keepAlive: true })
  return {
    ask: (method, path, body) => send(agent, new URL(path, url), method, body),
    connect: () => RawSocket.connect(url),
    async [Symbol.asyncDispose]() {
      agent.destroy()
      await server.stop()
    },
  }
}

export async function overSockets(service: Listening): Promise<Api> {
  const server = await service.listen(0)
  const { url } = server
  const socket = await RawSocket.connect(url)
  return {
    async ask(method, path, body) {
      assert.ok(body === undefined || 'json' in body, 'sockets carry JSON')
      const message = { url: path, ...(body && { data: body.json }) }
      const { statusCode, headers, body: answered } = await socket.ask(method.toLowerCase(), message)
      return { status: statusCode, body: answered, text: '', headers }
    },
    connect: () => RawSocket.connect(url),
    async [Symbol.asyncDispose]() {
      await socket[Symbol.asyncDispose]()
      await server.stop()
    },
  }
}

function send(agent: Agent, url: URL, method: string, body: Body | undefined): Promise<Answer> {
  const text = body && ('json' in body ? JSON.stringify(body.json) : body.text)
  const type = body && ('json' in body ? 'application/json' : body.type)
  const headers =
    text === undefined ? {} : { 'Content-Type': type as string, 'Content-Length': String(Buffer.byteLength(text)) }
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const isJson = /json/.test(response.headers['content-type'] ?? '')
        const { statusCode: status = 0, headers } = response
        resolve({ status, headers, text, body: isJson ? JSON.parse(text) : undefined })
      })
    })
    request.on('error', reject)
    request.end(text)
  })
}

/** The argument of the callback of a JSONP answer. */
export function scriptArgument({ text, headers }: Answer, callback: string): Json {
  assert.match(String(headers['content-type']), /^text\/javascript\b/)
  let argument: Json | undefined
  new Function(callback, text)((given: Json) => {
    argument = given
  })
  assert.notEqual(argument, undefined, `the callback was not called: ${text}`)
  return argument as Json
}

/** The body of a successful answer. */
export function found(answer: Answer, status = 200) {
  assert.equal(answer.status, status, answer.text || JSON.stringify(answer.body))
  return answer.body
}

export const notFound = (answer: Answer): void => {
  assert.deepEqual([answer.status, answer.body.code], [404, 'E_NO_SUCH_RECORD'])
}

/** A clause of the interface, with what it says and how it is checked. */
export interface Clause {
  readonly name: string
  /** HTTP only: media types and scripts. */
  readonly needsHttp?: boolean
  run(api: Api): Promise<void>
}

let names = 0
/** A name that no other record has. */
export const uniqueName = (): string => `name ${++names}`

export async function create(api: Api, model: string, values: Record<string, Json> = {}): Promise<Answer['body']> {
  const given =
    model === 'toy' ? { sku: uniqueName(), ...values } : { ...(model === 'hook' ? {} : named(model)), ...values }
  return found(await api.ask('POST', `/${model}?populate=false`, { json: given }), 201)
}

const named = (model: string) => ({ [model === 'item' ? 'label' : 'name']: uniqueName() })
