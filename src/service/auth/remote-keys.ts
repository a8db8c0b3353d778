import type { FetchImplementation, JWTVerifyGetKey } from 'jose'
import type { ErrorListener } from '../../protocol/error-response.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Limits } from '../../support/limits.ts'

/** The time before an issuer that has failed is asked again, which is `Retry-After` of the requests until then. */
const pauseSeconds = 2

/**
 * The public keys that an issuer publishes. They are fetched again after ten minutes and, at most every 30 seconds, when a
 * token names another key. Keys that cannot be fetched say nothing about a token: it is neither valid nor invalid, and
 * the request may be repeated. Until then the issuer is not asked, or each token would ask it. The first failure of
 * several is reported.
 */
export async function remoteKeys(
  uri: string,
  { maxBodyBytes }: Pick<Limits, 'maxBodyBytes'>,
  onError: ErrorListener,
): Promise<JWTVerifyGetKey> {
  const { createRemoteJWKSet, customFetch, errors } = await import('jose')
  const ofToken = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported]
  let failure: ServiceError | undefined
  let pausedUntilMs = 0
  let hasAnswered = false
  const fetchKeys = fetchWithin(maxBodyBytes)
  const fetchUnlessPaused: FetchImplementation = async (url, options) => {
    if (failure && performance.now() < pausedUntilMs) throw failure
    const response = await fetchKeys(url, options)
    hasAnswered = response.status === 200
    return response
  }
  const keyOf = createRemoteJWKSet(new URL(uri), { [customFetch]: fetchUnlessPaused })
  return async (header, token) => {
    try {
      const key = await keyOf(header, token)
      // A token of a key that is still known says nothing about the issuer.
      if (hasAnswered) failure = undefined
      return key
    } catch (cause) {
      if (cause === failure || ofToken.some((fault) => cause instanceof fault)) throw cause
      const error = new ServiceError('E_UNAVAILABLE', 'The keys of the tokens cannot be fetched', {
        headers: { 'Retry-After': String(pauseSeconds) },
        cause,
      })
      if (!failure) onError(error)
      failure = error
      pausedUntilMs = performance.now() + pauseSeconds * 1000
      hasAnswered = false
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
