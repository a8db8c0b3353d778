import type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from 'jose'
import { isObject } from '../../model/definition-kinds.ts'
import type { ErrorListener } from '../../protocol/error-response.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { User } from '../../protocol/requester.ts'
import type { Limits } from '../../support/limits.ts'
import type { Observe } from '../../support/observation.ts'
import type { AuthRequest } from './identify.ts'
import { remoteKeys } from './remote-keys.ts'

/** The claims of a verified token. */
export type TokenClaims = Readonly<JWTPayload>

/** JSON Web Tokens, from `Authorization: Bearer` or a cookie. One of `secret`, `jwksUri` and `jwks` is required. */
export interface JwtOptions<U = User> {
  /** The shared secret of HS256, HS384 and HS512: at least 32 bytes. */
  readonly secret?: string
  /** The URL of the issuer's public keys, which are cached. */
  readonly jwksUri?: string
  /** The public keys, as a JSON Web Key Set. */
  readonly jwks?: JSONWebKeySet
  /** Accepted algorithms; default `HS256` with a secret, `RS256`, `ES256` and `EdDSA` with keys. */
  readonly algorithms?: readonly string[]
  /** The accepted `iss` claims; default any. */
  readonly issuer?: string | readonly string[]
  /** The accepted `aud` claims; default any. */
  readonly audience?: string | readonly string[]
  /** The tolerated difference between the clocks of issuer and service, in seconds; default 5. */
  readonly clockToleranceSeconds?: number
  /** The name of a cookie with the token. It is read if there is no `Authorization` header. */
  readonly cookie?: string
  /** The user of a token; by default its claims, with `sub`, where there is one, as `id`. Null: anonymous. */
  readonly user?: (claims: TokenClaims) => U | null | Promise<U | null>
}

const defaultToleranceSeconds = 5
const shortestSecretBytes = 32

const keySources = ['secret', 'jwksUri', 'jwks'] as const
const sharedAlgorithms = ['HS256', 'HS384', 'HS512']
const publicAlgorithms = [
  ...['RS', 'PS', 'ES'].flatMap((kind) => [`${kind}256`, `${kind}384`, `${kind}512`]),
  ...['EdDSA', 'Ed25519', 'ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87'],
]

/** What is wrong with the options, besides their types. */
export function jwtProblems(options: JwtOptions<unknown>): readonly string[] {
  const { secret, jwksUri, jwks, algorithms } = options
  const given = keySources.filter((name) => options[name] !== undefined)
  const known = secret === undefined ? publicAlgorithms : sharedAlgorithms
  return [
    ...(given.length === 1
      ? []
      : [`auth.jwt needs one of secret, jwksUri and jwks${given.length === 0 ? unset(options) : ''}`]),
    ...(jwks !== undefined && !isKeySet(jwks)
      ? ["auth.jwt.jwks must be a set of keys, such as { keys: [{ kty: 'RSA', n: …, e: … }] }"]
      : []),
    ...(algorithms?.length === 0 ? ['auth.jwt.algorithms is empty: no token would be accepted'] : []),
    ...(secret !== undefined && Buffer.byteLength(secret) < shortestSecretBytes
      ? [`auth.jwt.secret must have at least ${shortestSecretBytes} bytes`]
      : []),
    ...(jwksUri !== undefined && !/^https?:$/.test(URL.parse(jwksUri)?.protocol ?? '')
      ? ['auth.jwt.jwksUri must be an address that begins with https:// or http://']
      : []),
    ...(algorithms?.every((name) => known.includes(name)) === false
      ? [`auth.jwt.algorithms ${secret === undefined ? 'with public keys' : 'with a secret'} are ${known.join(', ')}`]
      : []),
  ]
}

function unset(options: JwtOptions<unknown>): string {
  const name = keySources.find((name) => Object.hasOwn(options, name))
  return name === undefined ? '' : `; ${name} is undefined, as an environment variable is that is not set`
}

const isKeySet = ({ keys }: { readonly keys?: unknown }): boolean =>
  Array.isArray(keys) && keys.length > 0 && keys.every((key) => isObject(key) && typeof key.kty === 'string')

/** The token of a request: of the header, or else of the cookie. */
export function tokenIn({ headers, cookies }: AuthRequest, cookie: string | undefined): string | undefined {
  const { authorization } = headers
  const bearer = typeof authorization === 'string' ? /^Bearer +(\S.*)$/i.exec(authorization)?.[1] : undefined
  return bearer ?? (cookie === undefined ? undefined : cookies[cookie])
}

export interface TokenContext {
  now(): number
  readonly limits: Pick<Limits, 'hookTimeoutMs' | 'maxBodyBytes'>
  readonly onError: ErrorListener
  /** Receives the reason of a refusal, which a client does not. */
  readonly observe: Observe | undefined
}

/** The user of a token. Throws E_UNAUTHENTICATED for a token that is not valid. */
export function tokenVerifier(
  options: JwtOptions<User>,
  { now, limits, onError, observe }: TokenContext,
): (token: string) => Promise<User | null> {
  const { issuer, audience, clockToleranceSeconds = defaultToleranceSeconds, user = userOf } = options
  const algorithms = options.algorithms ?? (options.secret === undefined ? ['RS256', 'ES256', 'EdDSA'] : ['HS256'])
  let key: Promise<JWTVerifyGetKey | Uint8Array> | undefined
  return async (token) => {
    const { jwtVerify, errors } = await import('jose')
    key ??= keyOf(options, limits, onError)
    const verifying: JWTVerifyOptions = {
      algorithms: [...algorithms],
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(now()),
      ...(issuer !== undefined && { issuer: issuer as string | string[] }),
      ...(audience !== undefined && { audience: audience as string | string[] }),
    }
    try {
      const { payload } = await jwtVerify(token, (await key) as JWTVerifyGetKey, verifying)
      const found = await user(payload)
      return isObject(found) ? withExpiry(found, payload, clockToleranceSeconds) : found
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error
      observe?.({ kind: 'tokenRefused', reason: reasonOf(error) })
      throw invalidToken(error)
    }
  }
}

async function keyOf(
  { secret, jwksUri, jwks }: JwtOptions<User>,
  limits: TokenContext['limits'],
  onError: ErrorListener,
): Promise<JWTVerifyGetKey | Uint8Array> {
  if (secret !== undefined) return new TextEncoder().encode(secret)
  if (!jwks) return remoteKeys(jwksUri as string, limits, onError)
  const { createLocalJWKSet } = await import('jose')
  return createLocalJWKSet(jwks)
}

/** Many issuers of their own tokens write an `id` and no `sub`. */
const userOf = ({ sub, ...claims }: TokenClaims): User =>
  sub === undefined || sub === null ? claims : { ...claims, id: sub }

/** The last time that a Date can be. */
const latestMs = 8.64e15

/** A token's end is the user's, unless the application says otherwise. */
const withExpiry = (user: User, { exp }: TokenClaims, toleranceSeconds: number): User =>
  exp === undefined || (user.expiresAt !== undefined && user.expiresAt !== null)
    ? user
    : { ...user, expiresAt: new Date(Math.min((exp + toleranceSeconds) * 1000, latestMs)).toISOString() }

/** In words of ours: those of the library may contain what a client has sent. */
function reasonOf({ code, claim }: { readonly code: string; readonly claim?: unknown }): string {
  switch (code) {
    case 'ERR_JWT_EXPIRED':
      return 'its time "exp" has passed'
    case 'ERR_JWT_CLAIM_VALIDATION_FAILED':
      return claimReason(claim)
    case 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED':
      return 'its signature was made with another key'
    case 'ERR_JWKS_NO_MATCHING_KEY':
      return 'no key fits its "kid" and its algorithm'
    case 'ERR_JWKS_MULTIPLE_MATCHING_KEYS':
      return 'it has no "kid", and several keys fit its algorithm'
    case 'ERR_JOSE_ALG_NOT_ALLOWED':
      return 'its algorithm is not one of auth.jwt.algorithms'
    default:
      return 'it is not a signed JSON Web Token'
  }
}

function claimReason(claim: unknown): string {
  switch (claim) {
    case 'iss':
      return 'its "iss" is not auth.jwt.issuer'
    case 'aud':
      return 'its "aud" is not auth.jwt.audience'
    case 'nbf':
      return 'its time "nbf" has not come'
    default:
      return 'one of its times is not a number'
  }
}

const invalidToken = (cause: unknown): ServiceError =>
  new ServiceError('E_UNAUTHENTICATED', 'The token is not valid', {
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
    cause,
  })
