import { ServiceError } from '../../protocol/errors.ts'
import type { Service, ServiceResponse, Streamed } from '../../protocol/request.ts'
import type { Limits } from '../../support/limits.ts'
import { createFront, exchange, type Front, type HttpOptions } from './exchange.ts'
import { failure } from './fail.ts'
import { Gathered } from './gather.ts'
import { bodyCounts, bodyTooLarge, parseBody } from './parse-body.ts'
import { headersOf, isBodyless, streamHeadersOf, textOf } from './write.ts'

export type FetchHandler = (request: Request) => Promise<Response>

/**
 * The service for runtimes that speak in Request and Response. It gives the same answers as over `node:http`, and
 * never rejects.
 */
export function fetchHandler(service: Service, limits: Limits, options: HttpOptions = {}): FetchHandler {
  const front = createFront(service, limits, options)
  return async (request) => {
    const response = await answer(front, request)
    try {
      return toResponse(response, request.method)
    } catch (error) {
      void response.stream?.[Symbol.asyncIterator]().return?.()
      return toResponse(failure(error, front.report), request.method)
    }
  }
}

async function answer(front: Front, request: Request): Promise<ServiceResponse> {
  const headers = Object.fromEntries(request.headers)
  const [target] = request.url.split('#', 1) as [string]
  try {
    const bytes = await readBody(request, front.limits)
    const parse = bytes && bodyCounts(request.method) ? () => parseBody(bytes, headers, front.limits) : undefined
    return await exchange(front, request.method, target, headers, parse)
  } catch (error) {
    const refusal = failure(error, front.report)
    return front.cors?.allow(refusal, headers) ?? refusal
  }
}

/** Throws a ServiceError as soon as there is more than allowed, and when the body breaks off. */
async function readBody(request: Request, limits: Limits): Promise<Uint8Array | undefined> {
  if (!request.body) return undefined
  if (Number(request.headers.get('content-length')) > limits.maxBodyBytes) throw bodyTooLarge(limits)
  const gathered = new Gathered()
  try {
    // Leaving the loop early cancels the stream.
    for await (const chunk of request.body as AsyncIterable<Uint8Array>) {
      if (gathered.length + chunk.length > limits.maxBodyBytes) throw bodyTooLarge(limits)
      gathered.add(chunk)
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw new ServiceError('E_BAD_BODY', 'The body could not be read to its end', { cause: error })
  }
  return gathered.bytes()
}

const utf8 = new TextEncoder()

function toResponse(response: ServiceResponse, method: string): Response {
  const { stream, status } = response
  if (stream) return new Response(bodyOf(stream, method), { status, headers: streamHeadersOf(response) })
  const text = response.body === undefined || isBodyless(response) ? '' : textOf(response.body)
  const bytes = utf8.encode(text)
  const headers = new Headers()
  for (const [name, value] of Object.entries(headersOf(response, bytes.length))) headers.set(name, String(value))
  const empty = text === '' || method === 'HEAD'
  return new Response(empty ? null : bytes, { status: response.status, headers })
}

/** Takes a piece when the runtime asks for one. */
function bodyOf(stream: Streamed, method: string): ReadableStream<Uint8Array> | null {
  const pieces = stream[Symbol.asyncIterator]()
  const leave = async (): Promise<void> => {
    await pieces.return?.()
  }
  if (method === 'HEAD') {
    void leave()
    return null
  }
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const { done, value } = await pieces.next()
    if (done) controller.close()
    else controller.enqueue(typeof value === 'string' ? utf8.encode(value) : value)
  }
  return new ReadableStream({ pull, cancel: leave }, { highWaterMark: 0 })
}
