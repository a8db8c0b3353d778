import type { JsonObject } from '../../../src/protocol/json.ts'
import type { ReceivedEvent } from '../../chaos/history/view.ts'
import type { StreamClient } from '../../support/event-stream.ts'
import type { Payload, SailsClient } from '../../support/sails-client.ts'

/** The mark of the record of an event or a change. */
export const markOf = (event: unknown) => (event as { readonly data?: JsonObject } | undefined)?.data?.mark

/** All events up to one with this mark, and that one. */
export async function untilMark(stream: StreamClient, mark: string): Promise<JsonObject[]> {
  const received = await stream.take(1)
  while (markOf(received.at(-1)) !== mark) received.push(...(await stream.take(1)))
  return received
}

export const petsOf = (events: readonly (readonly [string, Payload])[]) =>
  events.filter(([name]) => name === 'pet').map(([, event]) => event as unknown as ReceivedEvent)

/** The same for the events of pets on a socket. */
export async function receivedUntil(
  client: SailsClient,
  isLast: (event: ReceivedEvent) => boolean,
): Promise<ReceivedEvent[]> {
  const last: ReceivedEvent[] = []
  const received = await client.until((name, payload) => {
    const [event] = petsOf([[name, payload]])
    return event !== undefined && isLast(event) && last.push(event) > 0
  })
  return [...petsOf(received), ...last]
}

/** The response to a find, and the events before it. */
export function find(client: SailsClient, data: unknown) {
  return new Promise<{ before: readonly ReceivedEvent[]; records: readonly JsonObject[] }>((resolve) => {
    client.socket.request({ method: 'get', url: '/pet', data }, (records) =>
      resolve({ before: petsOf(client.events.splice(0)), records: records as JsonObject[] }),
    )
  })
}
