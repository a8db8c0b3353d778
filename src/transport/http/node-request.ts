import type { IncomingMessage, ServerResponse } from 'node:http'
import { HttpRequest } from './http-request.ts'

/** What frameworks add to a request: the parsed body, the original URL or mount point, and a user. */
export type Received = IncomingMessage & {
  readonly body?: unknown
  readonly baseUrl?: unknown
  readonly originalUrl?: unknown
  readonly user?: unknown
}

/** A request of `node:http`, or of a framework around it. */
export class NodeRequest extends HttpRequest<ServerResponse<Received>> {
  get base(): string | undefined {
    const { baseUrl, originalUrl, url = '' } = this.source.req
    if (typeof baseUrl === 'string') return baseUrl
    if (typeof originalUrl !== 'string' || !originalUrl.endsWith(url)) return undefined
    return originalUrl.slice(0, originalUrl.length - url.length)
  }

  get frameworkUser(): unknown {
    return this.source.req.user
  }

  override get signal(): AbortSignal {
    const signal = signalOf(this.source)
    Object.defineProperty(this, 'signal', { value: signal })
    return signal
  }
}

function signalOf(response: ServerResponse): AbortSignal {
  if (response.destroyed) return AbortSignal.abort()
  const controller = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) controller.abort()
  })
  return controller.signal
}
