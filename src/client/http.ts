import type { Json } from '../protocol/json.ts'
import { NetworkError, requestError } from './errors.ts'
import type { Answer, ClientOptions, Sending, Token } from './options.ts'

/** Sends requests with the identity of the client. */
export class HttpSender {
  readonly #options: ClientOptions
  readonly #base: string

  constructor(options: ClientOptions) {
    this.#options = options
    this.#base = (options.url ?? '').replace(/\/+$/, '')
  }

  /** The answer of a request. Rejects with a RequestError when it is refused, with NetworkError when there is none. */
  async send(request: Sending): Promise<Answer> {
    const response = await this.open(request)
    return { headers: response.headers, body: await bodyOf(response, request.signal) }
  }

  /** The response, whose body is not read yet. */
  async open(request: Sending): Promise<Response> {
    let response = await this.#fetch(request, false)
    if (response.status === 401 && typeof this.#options.token === 'function') {
      await response.body?.cancel()
      response = await this.#fetch(request, true)
    }
    if (response.ok) return response
    throw requestError(response, await bodyOf(response, request.signal).catch(() => undefined))
  }

  async #fetch({ method, path, body, headers, signal }: Sending, renew: boolean): Promise<Response> {
    const { token, credentials, fetch = globalThis.fetch } = this.#options
    let bearer: Token
    try {
      bearer = typeof token === 'function' ? await token(renew) : token
    } catch (error) {
      // The server of the token cannot be reached.
      throw error instanceof TypeError ? failure(error, signal) : error
    }
    const request = {
      method,
      // Undefined is the default, `same-origin`.
      credentials: credentials as 'omit',
      headers: {
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(bearer && { Authorization: `Bearer ${bearer}` }),
        ...this.#options.headers,
        ...headers,
      },
      signal: signal as AbortSignal,
      body: JSON.stringify(body),
    }
    try {
      return await fetch(this.#base + path, request)
    } catch (error) {
      throw failure(error, signal)
    }
  }
}

async function bodyOf(response: Response, signal: AbortSignal | undefined): Promise<Json> {
  try {
    const text = await response.text()
    return text === '' ? null : JSON.parse(text)
  } catch (error) {
    // A page that is no JSON comes from a proxy or the sign-in of a network, not from the service.
    throw failure(error, signal)
  }
}

const failure = (error: unknown, signal: AbortSignal | undefined): unknown =>
  signal?.aborted ? signal.reason : new NetworkError(error)
