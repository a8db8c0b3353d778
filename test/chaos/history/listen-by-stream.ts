import type { JsonObject } from '../../../src/protocol/json.ts'
import { StreamClient } from '../../support/event-stream.ts'
import { type Connection, type From, Operations } from './connection.ts'
import { filterOf, headersOf, type Listener, queryOf } from './listener.ts'
import type { ReceivedEvent } from './view.ts'

/** Server-sent events. Rejects when they cannot be had. */
export async function listenByStream(listener: Listener, url: string, from: From): Promise<Connection> {
  const { model } = listener.watching
  const headers = { ...headersOf(listener.watching), ...(from.since !== undefined && { 'last-event-id': from.since }) }
  const filter = new URLSearchParams(filterOf(listener.watching))
  const client = await StreamClient.open(Number(new URL(url).port), `/${model}?${filter}`, { headers })
  if (client.status !== 200) throw new Error(`a stream was refused: ${client.status} ${client.body}`)
  const operations = new Operations(from.position, (events) => listener.receive(events))
  const begun = Promise.withResolvers<void>()

  /** False: the records could not be read, and it is as if it had never been connected. */
  async function takePlace(kind: string, place: string): Promise<boolean> {
    // A client that resumes keeps its records.
    const isNew = kind === 'reset' || (kind === 'ready' && operations.position === undefined)
    operations.position = place
    if (!isNew) return true
    try {
      await listener.begin(false, () => readRecords(listener, url))
      return true
    } catch {
      operations.position = undefined
      return false
    }
  }

  async function listen(): Promise<void> {
    for (;;) {
      const taken = await client.next().catch(() => undefined)
      if (!taken) break
      if (!['ready', 'reset', 'restart'].includes(taken.event)) {
        operations.take(taken.data as unknown as ReceivedEvent, taken.id)
      } else if (!(await takePlace(taken.event, taken.id as string))) {
        await client.close()
        break
      }
      begun.resolve()
    }
    begun.reject(new Error('the stream ended before it began'))
  }

  const ended = listen()
  await begun.promise
  return {
    ended,
    get position() {
      return operations.position
    },
    cut: () => void client.close(),
    stall: (isStalled) => (isStalled ? client.pause() : client.resume()),
  }
}

async function readRecords(listener: Listener, url: string): Promise<readonly JsonObject[]> {
  const query = Object.entries(queryOf(listener.watching)).map(([name, value]) => [name, String(value)])
  const headers = headersOf(listener.watching)
  const response = await fetch(`${url}/${listener.watching.model}?${new URLSearchParams(query)}`, { headers })
  if (response.status !== 200) throw new Error(`the records were refused: ${response.status}`)
  return (await response.json()) as JsonObject[]
}
