import type { JsonObject } from '../../protocol/json.ts'
import { NetworkError } from '../errors.ts'

/** A message of a stream; `id` is a position. */
export interface Message {
  readonly event: string
  readonly id: string | undefined
  readonly data: JsonObject
}

/**
 * The messages of a response. Its end is an error as well. `onBytes` is called for every chunk, heartbeats included.
 *
 * The service writes each field on one line. Only `\n` ends a line: values may contain other characters that end lines for
 * `m` and `.` of a regular expression, such as U+2028.
 */
export async function* messagesOf(body: ReadableStream<Uint8Array>, onBytes: () => void): AsyncGenerator<Message> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let fields: string[][] = []
  // A line may have some megabytes: what has arrived of it is not searched again with each chunk.
  let line = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) throw new Error('The stream was closed')
      onBytes()
      const [rest, ...lines] = decoder.decode(value, { stream: true }).split('\n')
      line += rest
      for (const next of lines) {
        if (line) fields.push(line.split(/: (.*)/s))
        else {
          const { event, id, data } = Object.fromEntries(fields)
          fields = []
          if (data) yield { event, id, data: JSON.parse(data) }
        }
        line = next
      }
    }
  } catch (error) {
    throw new NetworkError(error)
  } finally {
    reader.cancel().catch(() => {})
  }
}
