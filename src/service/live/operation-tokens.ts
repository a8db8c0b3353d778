import { createHash, hash, randomUUID } from 'node:crypto'
import { isUserId, type Requester, type User } from '../../protocol/requester.ts'
import { originOf } from '../../storage/write-origin.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'

/** Characters of a token; those of a hundred tokens are whole bytes. */
const tokenLength = 22
const keyLength = 12
const zero = 48

/**
 * The names of operations for clients: the same token in every process, from which no number of writes can be read, and
 * comparable by equality only. A requester has a key, which the log keeps with its writes.
 */
export class OperationTokens {
  readonly #secret: string
  readonly #tellsRequestersApart: boolean
  readonly #keys = new WeakMap<User, string>()
  /** The digits before the last two of the latest operation, and the tokens that they have in common. */
  #hundreds: string | undefined
  #tokens = ''

  /** `tellsRequestersApart`: false where every requester may read everything, so the log need not know the requester. */
  constructor(secret: string, tellsRequestersApart: boolean) {
    this.#secret = secret
    this.#tellsRequestersApart = tellsRequestersApart
  }

  /**
   * One hash makes the tokens of a hundred numbers, which differ in their last two digits: most writes follow another, and on
   * several connections they are answered in another order.
   */
  tokenOf(operation: string): string {
    const { length } = operation
    const hundreds = length > 2 ? operation.slice(0, -2) : ''
    if (hundreds !== this.#hundreds) this.#sealHundred(hundreds)
    const tens = length > 1 ? operation.charCodeAt(length - 2) - zero : 0
    const at = (tens * 10 + operation.charCodeAt(length - 1) - zero) * tokenLength
    return this.#tokens.slice(at, at + tokenLength)
  }

  #sealHundred(hundreds: string): void {
    const seal = createHash('shake256', { outputLength: (100 * tokenLength * 6) / 8 })
    this.#tokens = seal.update(`${this.#secret}\noperation\n${hundreds}`).digest('base64url')
    this.#hundreds = hundreds
  }

  /** The origin that the log keeps with a write: the key of the requester, and its peer. */
  originOf(requester: Requester, peer: string | undefined): string | undefined {
    return this.#tellsRequestersApart ? originOf(this.keyOf(requester), peer) : peer
  }

  /** All anonymous requests have one key. Undefined for the system, whose writes have no token for other requesters. */
  keyOf(requester: Requester): string | undefined {
    if (!this.#tellsRequestersApart || requester.kind === 'system') return undefined
    if (requester.kind === 'anonymous') return '-'
    return getOrInsertComputed(this.#keys, requester.user, () => sealOf(this.#secret, requester.user))
  }
}

/** The keyed hash is cut, so that it cannot be continued with more text. */
const sealOf = (secret: string, user: User): string =>
  hash('sha256', `${secret}\nrequester\n${identityOf(user)}`, 'base64url').slice(0, keyLength)

/** A user without `id` or `sub` is identified by all of its values, except those that change with each session. */
export function identityOf(user: User): string {
  const { id, sub, ...others } = user
  const identity = id ?? sub
  if (isUserId(identity)) return `${typeof identity} ${identity}`
  const { expiresAt: _e, exp: _x, iat: _i, ...rest } = others
  try {
    return JSON.stringify(rest)
  } catch {
    return randomUUID()
  }
}
