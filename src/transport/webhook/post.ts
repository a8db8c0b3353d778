import { publicAddressOf } from './public-address.ts'

/** Answers such as 103 before the one that counts. A receiver could send them without an end. */
const maxInformational = 10

export interface Post {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
  readonly allowPrivate: boolean
}

export interface Answer {
  readonly status: number
  readonly retryAfter: string | undefined
}

/** Sends to the address that was checked, and to no other. Redirects are not followed, and the body of the answer is not read. */
export async function post(url: URL, { headers, body, signal, allowPrivate }: Post): Promise<Answer> {
  const address = await publicAddressOf(url.hostname, allowPrivate)
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  // An import would load `fetch` and HTTP/2 as well, also where no webhook is declared: sixteen megabytes.
  const { request: send } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
  const request = send(url, {
    method: 'POST',
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    signal,
    agent: false,
    lookup: (_host, { all }, found) => (all ? found(null, [address]) : found(null, address.address, address.family)),
  })
  request.once('error', reject)
  // Also without an error, such as after 101.
  request.once('close', () => reject(new Error(`${url.host} has closed the connection without an answer`)))
  let informational = 0
  request.on('information', () => {
    if (++informational > maxInformational) request.destroy(new Error(`${url.host} does not come to an answer`))
  })
  request.once('response', (response) => {
    resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] })
    response.destroy()
  })
  request.end(body)
  return promise
}
