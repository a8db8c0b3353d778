import assert from 'node:assert/strict'
import { Agent, request as httpRequest } from 'node:http'
import { io } from 'socket.io-client'
import type { Answer, Api, Given, Need } from '../../../src/conformance/scenario.ts'
import type { Service } from '../../../src/index.ts'
import { isEncoded, type Json } from '../../../src/protocol/json.ts'
import type { Site } from '../../../src/protocol/request.ts'

/** The tested part of a service; its records are used only to empty it. */
export interface ZooService extends Pick<Service, 'handle' | 'fetch' | 'listen' | 'close'> {
  readonly system: { readonly records: object }
}

export interface OpenApi extends Api {
  close(): Promise<void>
}

/** A transport: carries requests to a service and returns the answers. */
export interface Transport {
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

export const overHttp: Transport = {
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

export const overFetch: Transport = {
  name: 'fetch',
  lacks: ['anyRequest'],
  open: async (service) => ({
    async request(method, path, given) {
      const { headers, text } = sent(method, path, given)
      const request = new Request(`http://localhost${path}`, {
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

/** In-process calls: values are neither encoded nor parsed on the way. */
export const inProcess: Transport = {
  name: 'in-process',
  lacks: ['bytes', 'anyRequest'],
  open: async (service) => ({
    async request(method, address, given) {
      assert.equal(given?.text, undefined, 'a scenario with a raw body must declare the need "bytes"')
      const mark = address.indexOf('?')
      const [path, query] = mark === -1 ? [address, ''] : [address.slice(0, mark), address.slice(mark + 1)]
      const headers = given?.headers ?? {}
      const site = (headers['sec-fetch-site'] ?? 'none') as Site
      const response = await service.handle({ method, path, query, body: given?.body, headers, site })
      const found = new Map(Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value]))
      const { body } = response
      const text = body === undefined ? '' : isEncoded(body) ? body.encoded : JSON.stringify(body)
      return answer(response.status, (name) => found.get(name), text)
    },
    close: async () => {},
  }),
}

/** Requests over a socket of the Socket.IO client with its default options: long polling first, then a WebSocket. */
export const overSockets: Transport = {
  name: 'socket',
  lacks: ['bytes', 'anyRequest', 'http'],
  async open(service) {
    const server = await service.listen(0)
    const socket = io(server.url, { forceNew: true })
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('connect_error', reject))
    return {
      async request(method, url, { body: data, headers } = {}) {
        const {
          statusCode,
          body,
          headers: found,
        } = await socket.emitWithAck(method.toLowerCase(), { url, data, headers })
        const byName = new Map(Object.entries<string>(found).map(([name, value]) => [name.toLowerCase(), value]))
        // Socket responses carry no headers about their encoding; what is not a string is JSON.
        if (statusCode >= 400) byName.set('content-type', 'application/problem+json; charset=utf-8')
        const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
        return answer(statusCode, (name) => byName.get(name), text)
      },
      async close() {
        socket.disconnect()
        await server.stop()
      },
    }
  },
}
