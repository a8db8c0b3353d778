import type { JsonObject } from '../../protocol/json.ts'
import { NetworkError } from '../errors.ts'

/** A message of a stream; `id` is a position. */
export interface Message {
  readonly event: string
  readonly id: string | undefined
  readonly data: JsonObject
}

/** The messages of a response. Its end is an error as well. `onBytes` is called for every chunk, heartbeats included. */
export async function* messagesOf(body: ReadableStream<Uint8Array>, onBytes: () => void): AsyncGenerator<Message> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) throw new Error('The stream was closed')
      onBytes()
      const blocks = (text + decoder.decode(value, { stream: true })).split('\n\n')
      text = blocks.pop() as string
      for (const block of blocks) {
        const { event, id, data } = fieldsOf(block)
        if (data) yield { event: event as string, id, data: JSON.parse(data) }
      }
    }
  } catch (error) {
    throw new NetworkError(error)
  } finally {
    reader.cancel().catch(() => {})
  }
}

/**
 * The service writes each field on one line. Only `\n` ends a line: values may contain other characters that end lines for
 * `m` and `.` of a regular expression, such as U+2028.
 */
const fieldsOf = (block: string): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s)))
