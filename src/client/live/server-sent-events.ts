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
      if (done) throw new Error('the stream ended')
      onBytes()
      const blocks = (text + decoder.decode(value, { stream: true })).split('\n\n')
      text = blocks.pop() as string
      for (const block of blocks) {
        const message = parse(block)
        if (message) yield message
      }
    }
  } catch (error) {
    throw new NetworkError(error)
  } finally {
    reader.cancel().catch(() => {})
  }
}

/** The service writes each field on one line. */
function parse(block: string): Message | undefined {
  const [event = '', id, data] = ['event', 'id', 'data'].map(
    (name) => new RegExp(`^${name}: (.*)`, 'm').exec(block)?.[1],
  )
  return data === undefined ? undefined : { event, id, data: JSON.parse(data) }
}
