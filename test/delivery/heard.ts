import type { JsonObject } from '../../src/protocol/json.ts'
import type { StreamClient } from '../event-stream.ts'
import type { HeardEvent } from '../history/view.ts'
import type { Payload, SailsClient } from '../sails-client.ts'

/** The mark of the record that an event or a change tells of. */
export const markOf = (event: unknown) => (event as { readonly data?: JsonObject } | undefined)?.data?.mark

/** What comes until something has this mark, and that. */
export async function untilMark(stream: StreamClient, mark: string): Promise<JsonObject[]> {
  const heard = await stream.take(1)
  while (markOf(heard.at(-1)) !== mark) heard.push(...(await stream.take(1)))
  return heard
}

export const petsOf = (events: readonly (readonly [string, Payload])[]) =>
  events.filter(([name]) => name === 'pet').map(([, event]) => event as unknown as HeardEvent)

/** The same of the pets that a socket is told of. */
export async function toldUntil(client: SailsClient, isLast: (event: HeardEvent) => boolean): Promise<HeardEvent[]> {
  const last: HeardEvent[] = []
  const told = await client.until((name, payload) => {
    const [event] = petsOf([[name, payload]])
    return event !== undefined && isLast(event) && last.push(event) > 0
  })
  return [...petsOf(told), ...last]
}

/** What a socket finds, and what it was told before. */
export function find(client: SailsClient, data: unknown) {
  return new Promise<{ before: readonly HeardEvent[]; records: readonly JsonObject[] }>((resolve) => {
    client.socket.request({ method: 'get', url: '/pet', data }, (records) =>
      resolve({ before: petsOf(client.events.splice(0)), records: records as JsonObject[] }),
    )
  })
}
