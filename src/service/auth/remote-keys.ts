import type { FetchImplementation, JWTVerifyGetKey } from 'jose'
import type { ErrorListener } from '../../protocol/error-response.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Limits } from '../../support/limits.ts'

/**
 * The public keys that an issuer publishes. They are fetched again after ten minutes and, at most every 30 seconds, when a
 * token names another key. Keys that cannot be fetched say nothing about a token: it is neither valid nor invalid, and
 * the request may be repeated. The first failure of several is reported.
 */
export async function remoteKeys(
  uri: string,
  { maxBodyBytes }: Pick<Limits, 'maxBodyBytes'>,
  onError: ErrorListener,
): Promise<JWTVerifyGetKey> {
  const { createRemoteJWKSet, customFetch, errors } = await import('jose')
  const keyOf = createRemoteJWKSet(new URL(uri), { [customFetch]: fetchWithin(maxBodyBytes) })
  const ofToken = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported]
  let isFailing = false
  return async (header, token) => {
    try {
      const key = await keyOf(header, token)
      isFailing = false
      return key
    } catch (cause) {
      if (ofToken.some((fault) => cause instanceof fault)) throw cause
      const error = new ServiceError('E_UNAVAILABLE', 'The keys of the tokens cannot be fetched', {
        headers: { 'Retry-After': '2' },
        cause,
      })
      if (!isFailing) onError(error)
      isFailing = true
      throw error
    }
  }
}

/** Rejects where the body is longer. The body of an error, which nothing reads, is not received. */
const fetchWithin =
  (maxBytes: number): FetchImplementation =>
  async (url, options) => {
    const response = await fetch(url, options)
    if (response.status !== 200) {
      await response.body?.cancel()
      return response
    }
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length
      if (bytes > maxBytes) throw new Error(`The key set has more than ${maxBytes} bytes (maxBodyBytes)`)
      chunks.push(chunk)
    }
    return new Response(Buffer.concat(chunks))
  }
