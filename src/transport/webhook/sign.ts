import { createHmac } from 'node:crypto'

/** The headers of Standard Webhooks. With several secrets, while one replaces another, each signs. */
export function signedHeaders(
  message: { readonly id: string; readonly timestamp: number; readonly body: string },
  keys: readonly Buffer[],
): Readonly<Record<string, string>> {
  const { id, timestamp, body } = message
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  )
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') }
}

/** The key in `whsec_…`. The message of the error does not contain the secret. */
export function keyOf(secret: unknown): Buffer {
  const encoded = typeof secret === 'string' && secret.startsWith('whsec_') ? secret.slice(6) : ''
  const key = Buffer.from(encoded, 'base64')
  if (key.length < 24 || key.length > 64 || !/^[A-Za-z0-9+/]+=*$/.test(encoded))
    throw new TypeError('The secret of a webhook must be "whsec_" and 24 to 64 bytes in base64')
  return key
}
