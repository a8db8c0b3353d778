import { type ErrorListener, errorResponse } from '../../protocol/error-response.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Service, ServiceResponse } from '../../protocol/request.ts'
import type { Limits } from '../../support/limits.ts'
import { BodyBuffer } from '../body-buffer.ts'
import { isOfPage, type OriginPolicy } from '../origin-policy.ts'
import { textSlices } from '../text-slices.ts'
import { createServerContext, type HttpOptions, handleHttpRequest, type ServerContext } from './handle-http-request.ts'
import { HttpRequest } from './http-request.ts'
import { bodyTooLarge, methodsWithBody, parseBody } from './parse-body.ts'
import { headersOf, isBodyless, streamHeadersOf, textOf } from './write.ts'

export type FetchHandler = (request: Request) => Promise<Response>

/**
 * The service for runtimes that use Request and Response. Responses equal those over `node:http`; the promise never
 * rejects.
 */
export function fetchHandler(service: Service, limits: Limits, options: HttpOptions = {}): FetchHandler {
  const context = createServerContext(service, limits, options)
  return async (request) => {
    const response = await handleFetchRequest(context, request)
    try {
      return toResponse(response, request.method, context.onError)
    } catch (error) {
      void endOf(
        () => response.stream?.[Symbol.asyncIterator](),
        () => {},
      )
      return toResponse(errorResponse(error, context.onError), request.method, context.onError)
    }
  }
}

async function handleFetchRequest(context: ServerContext, request: Request): Promise<ServiceResponse> {
  const headers = withHost(Object.fromEntries(request.headers), request.url, context.policy)
  const [target] = request.url.split('#', 1) as [string]
  try {
    const bytes = await readBody(request, context.limits)
    const parse =
      bytes && methodsWithBody.has(request.method) ? () => parseBody(bytes, headers, context.limits) : undefined
    return await handleHttpRequest(
      context,
      new HttpRequest(context.policy, request.method, target, headers, request),
      parse,
    )
  } catch (error) {
    const refusal = errorResponse(error, context.onError)
    return context.cors?.allow(refusal, headers) ?? refusal
  }
}

/**
 * A request of a page is compared with the host of its URL where an adapter, or a test, leaves out the `Host` header. That host is
 * checked like the header, because an adapter may have taken it from the client. Programs and listed origins may use any.
 */
function withHost(headers: Readonly<Record<string, string>>, url: string, policy: OriginPolicy) {
  if (headers.host !== undefined || !isOfPage(headers) || policy.lists(headers.origin)) return headers
  return { ...headers, host: new URL(url).host }
}

/** Throws a ServiceError as soon as the body exceeds `maxBodyBytes`, and when it ends early. */
async function readBody(request: Request, limits: Limits): Promise<Uint8Array | undefined> {
  if (!request.body) return undefined
  if (Number(request.headers.get('content-length')) > limits.maxBodyBytes) throw bodyTooLarge(limits)
  const buffer = new BodyBuffer()
  try {
    // Leaving the loop early cancels the stream.
    for await (const chunk of request.body as AsyncIterable<Uint8Array>) {
      if (buffer.length + chunk.length > limits.maxBodyBytes) throw bodyTooLarge(limits)
      buffer.add(chunk)
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw new ServiceError('E_BAD_BODY', 'The body ended before it was complete', { cause: error })
  }
  return buffer.bytes()
}

const utf8 = new TextEncoder()

function toResponse(response: ServiceResponse, method: string, onError: ErrorListener): Response {
  const { stream, status } = response
  if (stream) {
    const chunks = stream[Symbol.asyncIterator]()
    if (method === 'HEAD') void endOf(() => chunks, onError)
    const body = method === 'HEAD' ? null : readableOf(chunks, onError)
    return new Response(body, { status, headers: streamHeadersOf(response) })
  }
  const text = response.body === undefined || isBodyless(response) ? '' : textOf(response.body)
  const list = headersOf(response, Buffer.byteLength(text))
  const headers = new Headers()
  for (let index = 0; index < list.length; index += 2) headers.set(String(list[index]), String(list[index + 1]))
  const body = text === '' || method === 'HEAD' ? null : readableOf(textSlices(text), onError)
  return new Response(body, { status: response.status, headers })
}

/** Ends content that is not sent. An error of it that nothing waits for would end the process. */
async function endOf(
  chunksOf: () => AsyncIterator<string | Uint8Array, unknown> | undefined,
  onError: ErrorListener,
): Promise<void> {
  try {
    await chunksOf()?.return?.()
  } catch (error) {
    onError(error)
  }
}

/** Pulls a chunk whenever the runtime asks for one. An error of the content is reported, and is that of the stream. */
function readableOf(
  chunks: AsyncIterator<string | Uint8Array, unknown> | Iterator<string>,
  onError: ErrorListener,
): ReadableStream<Uint8Array> {
  const next = async () => {
    try {
      return await chunks.next()
    } catch (error) {
      onError(error)
      throw error
    }
  }
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const { done, value } = await next()
    if (done) controller.close()
    else controller.enqueue(typeof value === 'string' ? utf8.encode(value) : (value as Uint8Array))
  }
  const cancel = async (): Promise<void> => {
    await chunks.return?.()
  }
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 })
}
