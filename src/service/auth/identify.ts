import type { Handshake, ServiceRequest } from '../../protocol/request.ts'
import { anonymous, isUserId, type Requester, type User } from '../../protocol/requester.ts'
import { withinHookTime } from '../../protocol/within-hook-time.ts'
import { isThenable, type MaybePromise } from '../../support/maybe-promise.ts'
import { type JwtOptions, type TokenContext, tokenIn, tokenVerifier } from './jwt.ts'

/** The part of a request, or of the handshake of a socket, that `auth.identify` receives. */
export interface AuthRequest {
  readonly method: string
  /** Percent-encoded, without the query string. */
  readonly path: string
  /** The query string without the question mark. Socket clients that cannot send headers send their token here. */
  readonly query: string
  /** Names in lower case. */
  readonly headers: ServiceRequest['headers']
  /** The cookies of the request by name, decoded. */
  readonly cookies: Readonly<Record<string, string>>
  /** `user` of the framework's request or upgrade, if the service is mounted in a framework. */
  readonly frameworkUser?: unknown
}

export interface AuthOptions<U = User> {
  /**
   * The user of a request, or null for an anonymous one. Its `role` or `roles` are what rules compare with; when
   * `expiresAt` (ISO 8601) has passed, the request is anonymous and the user's sockets and streams end.
   */
  identify?(request: AuthRequest): U | null | Promise<U | null>
  /** JSON Web Tokens. A request without a token is left to `identify`, or anonymous. */
  readonly jwt?: JwtOptions<U>
}

/** The requester of a request. An error of `identify` fails the request: nothing is served to an unknown requester. */
export function identifier(auth: AuthOptions, context: TokenContext): (request: Handshake) => MaybePromise<Requester> {
  const { jwt } = auth
  const { now, limits } = context
  const verify = jwt && tokenVerifier(jwt, context)
  return ({ method, path, query, headers, frameworkUser }) => {
    const request: AuthRequest = { method, path, query, headers, cookies: cookiesIn(headers.cookie), frameworkUser }
    const token = verify && tokenIn(request, jwt?.cookie)
    const user = verify && token !== undefined ? verify(token) : (auth.identify?.(request) ?? null)
    // A query that is not awaited would be the user itself.
    if (!isThenable(user)) return requesterOf(user, now)
    const found = Promise.resolve(user).then((found) => requesterOf(found, now))
    return withinHookTime(found, token === undefined ? 'auth.identify' : 'auth.jwt', limits)
  }
}

export function requesterOf(user: User | null | undefined, now: () => number): Requester {
  if (user === null || user === undefined) return anonymous
  // An empty list is what many queries return that find no user.
  if (typeof user !== 'object' || Array.isArray(user) || isThenable(user))
    throw new TypeError('A user must be an object or null, not a list or a promise')
  const { expiresAt } = user
  const id = user.id ?? user.sub
  // Users that are not distinguished would receive each other's stored answers.
  if (id !== undefined && id !== null && !isUserId(id))
    throw new TypeError('The id or sub of a user must be a string, a number or a bigint')
  if (expiresAt === undefined || expiresAt === null) return { kind: 'user', user }
  // A time in another form would be one that never comes.
  if (typeof expiresAt !== 'string') throw new TypeError('expiresAt of a user must be a time in ISO 8601')
  if (!(Date.parse(expiresAt) > now())) return anonymous
  return { kind: 'user', user }
}

const noCookies: AuthRequest['cookies'] = Object.freeze(Object.create(null))

function cookiesIn(header: ServiceRequest['headers'][string]): Readonly<Record<string, string>> {
  if (typeof header !== 'string') return noCookies
  const cookies: Record<string, string> = Object.create(null)
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=')
    if (equals === -1) continue
    const name = pair.slice(0, equals).trim()
    if (!(name in cookies)) cookies[name] = decoded(pair.slice(equals + 1).trim())
  }
  return cookies
}

function decoded(text: string): string {
  const value = text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
