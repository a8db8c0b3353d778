import type { JWTVerifyGetKey } from 'jose'
import type { ErrorListener } from '../../protocol/error-response.ts'
import { ServiceError } from '../../protocol/errors.ts'

/**
 * The public keys that an issuer publishes. They are fetched again after ten minutes and, at most every 30 seconds, when a
 * token names another key. Keys that cannot be fetched say nothing about a token: it is neither valid nor invalid, and
 * the request may be repeated. The first failure of several is reported.
 */
export async function remoteKeys(uri: string, onError: ErrorListener): Promise<JWTVerifyGetKey> {
  const { createRemoteJWKSet, errors } = await import('jose')
  const keyOf = createRemoteJWKSet(new URL(uri))
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
