import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { parse, Refusal } from './pet.ts'

/** The requests about pets for one database. Each function ends the response, synchronously or later. */
export interface Pets {
  one(id: number, response: ServerResponse): void
  list(query: string, response: ServerResponse): void
  create(body: unknown, response: ServerResponse): void
  update(id: number, body: unknown, response: ServerResponse): void
  patients(query: string, response: ServerResponse): void
}

const mostBodyBytes = 1_048_576
const headers = (length: number) => ({
  'Content-Type': 'application/json; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Content-Length': length,
})

export function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, headers(Buffer.byteLength(body)))
  response.end(body)
}

export function refuse(response: ServerResponse, error: unknown): void {
  const [status, detail] = error instanceof Refusal ? [error.status, error.message] : [500, 'Internal server error']
  if (status === 500) console.error(error)
  answer(response, status, JSON.stringify({ status, detail }))
}

export const servePets = (pets: Pets): Server =>
  createServer((request, response) => {
    try {
      dispatch(pets, request, response)
    } catch (error) {
      refuse(response, error)
    }
  })

function dispatch(pets: Pets, request: IncomingMessage, response: ServerResponse): void {
  const url = request.url as string
  const mark = url.indexOf('?')
  const path = mark === -1 ? url : url.slice(0, mark)
  const { method } = request
  if (path === '/pet') {
    if (method === 'GET') pets.list(mark === -1 ? '' : url.slice(mark + 1), response)
    else if (method === 'POST') readBody(request, response, (body) => pets.create(body, response))
    else throw new Refusal(405, 'Method not allowed')
  } else if (path.startsWith('/pet/')) {
    const id = readId(path.slice(5))
    if (method === 'GET') pets.one(id, response)
    else if (method === 'PATCH') readBody(request, response, (body) => pets.update(id, body, response))
    else throw new Refusal(405, 'Method not allowed')
  } else if (path === '/patient') {
    if (method !== 'GET') throw new Refusal(405, 'Method not allowed')
    pets.patients(mark === -1 ? '' : url.slice(mark + 1), response)
  } else throw new Refusal(404, 'Route not found')
}

function readId(text: string): number {
  const id = Number(text)
  if (!Number.isSafeInteger(id) || text === '') throw new Refusal(404, 'There is no such pet')
  return id
}

function readBody(request: IncomingMessage, response: ServerResponse, use: (body: unknown) => void): void {
  const chunks: Buffer[] = []
  let length = 0
  request.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    length += chunk.length
    if (length > mostBodyBytes) request.destroy()
  })
  request.on('end', () => {
    try {
      const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
      use(parse(bytes.toString()))
    } catch (error) {
      refuse(response, error)
    }
  })
}
