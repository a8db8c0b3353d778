import type { ActionResult } from '../../operation/operation.ts'
import { ServiceError } from '../../protocol/errors.ts'
import { EncodedJson } from '../../protocol/json.ts'
import { hasProperties } from '../../support/has-properties.ts'
import { isBytes } from '../../support/is-bytes.ts'
import { isStream } from './content-stream.ts'
import { ActionFile, ActionReply, contentOf, type StreamedContent, unnamedContent } from './reply.ts'

/** What a result must fit. Undefined: it stays in this process, and is passed on as it is. */
export interface ResultLimits {
  readonly maxAnswerBytes: number
  /** Whether the client can be sent pieces: over a socket or in a batch it cannot. */
  readonly acceptsStreams: boolean
}

/**
 * The result of an action as it will be sent. It is made within the transaction: a result that cannot be sent rolls it
 * back.
 */
export async function actionResult(value: unknown, action: string, limits: ResultLimits): Promise<ActionResult> {
  const { value: inner, status, headers } = value instanceof ActionReply ? value : new ActionReply(value)
  if (inner instanceof ActionFile || isStream(inner)) {
    if (!limits.acceptsStreams)
      throw new ServiceError(
        'E_BAD_REQUEST',
        `The action "${action}" answers with a file: request it over HTTP, by itself and without Idempotency-Key`,
      )
    const content: StreamedContent = inner instanceof ActionFile ? await contentOf(inner) : await unnamedContent(inner)
    return { kind: 'action', value, status, headers: { ...content.headers, ...headers }, stream: content.stream }
  }
  if (inner === undefined) return { kind: 'action', value, status: status === 200 ? 204 : status, headers }
  return { kind: 'action', value, status, headers, body: encoded(inner, action, limits) }
}

function encoded(value: unknown, action: string, { maxAnswerBytes }: ResultLimits): EncodedJson {
  const text = isJson(value) ? JSON.stringify(value) : undefined
  if (text === undefined)
    throw new TypeError(
      `The result of the action "${action}" is not JSON but ${Object.prototype.toString.call(value)}; \`file\` sends bytes and streams`,
    )
  if (Buffer.byteLength(text) <= maxAnswerBytes) return new EncodedJson(text)
  throw new ServiceError(
    'E_BAD_REQUEST',
    `The result of the action "${action}" is larger than ${maxAnswerBytes} bytes`,
    {
      limit: 'maxAnswerBytes',
    },
  )
}

/** JSON has no form for a Map, a Response or an Error, and would send `{}`; of bytes it would send a list of numbers. */
const isJson = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  Array.isArray(value) ||
  hasProperties(value) ||
  (typeof (value as { readonly toJSON?: unknown }).toJSON === 'function' && !isBytes(value))
