import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { JsonObject } from '../../protocol/json.ts'
import { post } from './post.ts'
import { keyOf, signedHeaders } from './sign.ts'

export interface WebhookOptions {
  /** `whsec_…`, the notation of Standard Webhooks; several while one replaces another. */
  readonly secret: string | readonly string[]
  /** The name of the job; default is the host with a hash of the URL. */
  readonly name?: string
  /** Whether private and local addresses are allowed, and `http:`. */
  readonly allowPrivate?: boolean
  /** As `retry` of a job. */
  readonly retry?: number
  /** As `concurrency` of a job. */
  readonly concurrency?: number
  /** The time limit of a request in milliseconds; default 15000. */
  readonly timeoutMs?: number
  /** As `from` of a job. */
  readonly from?: 'now' | 'beginning'
}

interface Context {
  readonly event: {
    readonly eventId: string
    readonly verb: string
    readonly model: string
    readonly at: string
    readonly previous?: JsonObject
  }
  readonly signal: AbortSignal
}

/** A job that sends each event to a URL. */
export interface Webhook extends Omit<WebhookOptions, 'secret' | 'allowPrivate' | 'name'> {
  readonly name: string
  readonly sameAs: string
  readonly run: (record: JsonObject, context: Context) => Promise<void>
}

const defaultTimeoutMs = 15_000
/** Only compared within this process, so that the comparison reveals nothing of a secret. */
const comparisonKey = randomBytes(32)

/**
 * A job that posts each event to a URL, signed as Standard Webhooks says. Neither the URL nor a secret is part of messages.
 * Throws a TypeError for a URL or a secret that is not valid.
 */
export function webhook(url: string, { secret, name, allowPrivate = false, ...options }: WebhookOptions): Webhook {
  const target = URL.parse(url)
  if (!target || !['https:', ...(allowPrivate ? ['http:'] : [])].includes(target.protocol))
    throw new TypeError('The URL of a webhook must begin with https:, or with allowPrivate also with http:')
  const keys = [secret].flat().map(keyOf)
  if (keys.length === 0) throw new TypeError('A webhook needs a secret')
  const hash = createHash('sha256').update(target.href).digest('hex').slice(0, 8)
  const compared = JSON.stringify([target.href, secret, name, allowPrivate, options])
  return {
    timeoutMs: defaultTimeoutMs,
    ...options,
    name: name ?? `webhook ${target.host} ${hash}`,
    sameAs: createHmac('sha256', comparisonKey).update(compared).digest('hex'),
    async run(data, { event, signal }) {
      const { eventId: id, verb, model, at, previous } = event
      const body = JSON.stringify({ type: `${model}.${verb}`, timestamp: at, data, ...(previous && { previous }) })
      const signed = signedHeaders({ id, timestamp: Math.floor(Date.now() / 1000), body }, keys)
      const headers = { 'content-type': 'application/json', 'user-agent': 'keelson', ...signed }
      const { status, retryAfter } = await post(target, { headers, body, signal, allowPrivate })
      if (status >= 200 && status < 300) return
      throw Object.assign(new Error(`${target.host} answered ${status}`), {
        retryAfterMs: delayIn(retryAfter),
        // Gone: the receiver wants no further events.
        ...(status === 410 && { retry: false }),
      })
    },
  }
}

/** Seconds, or a date. */
function delayIn(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined
  const ms = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - Date.now()
  return Number.isFinite(ms) ? ms : undefined
}
