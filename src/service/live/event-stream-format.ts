import type { Position } from '../../protocol/change.ts'
import type { SubscriptionEvent } from '../../protocol/event.ts'
import type { IteratorItem } from '../../realtime/delivery/event-iterator.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'
import { ObjectCache } from '../../support/object-cache.ts'

/** A client that lost its connection reconnects after this time. */
export const retryMs = 2_000

export const streamHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Without it middlewares and proxies that compress hold events back until enough of them have come.
  'Cache-Control': 'no-store, no-transform',
  // Without it nginx buffers events.
  'X-Accel-Buffering': 'no',
  Vary: 'Accept',
}
/** An operation is sent in pieces of about this length, so that back-pressure works within it. */
const maxPieceLength = 65_536

const texts = new ObjectCache<SubscriptionEvent, string>()

/** An event without the blank line that ends it. It is encoded once for all streams. */
const textOf = (event: SubscriptionEvent): string =>
  getOrInsertComputed(texts, event, () => `event: ${event.verb}\ndata: ${JSON.stringify(event)}\n`)

export const sizeOf = (event: SubscriptionEvent): number => Buffer.byteLength(textOf(event))

/**
 * An item in the format of server-sent events. Only the last event of an operation has an id: a client that resumes
 * from it has received the whole operation. `onUnsent` is called before a piece with about the length of those after it.
 */
export function* piecesOf(item: IteratorItem, onUnsent: (length: number) => void = () => {}): Generator<string> {
  switch (item.kind) {
    case 'operation': {
      let piece = ''
      let length = 0
      for (const [index, event] of item.events.entries()) {
        const isLast = index === item.events.length - 1
        piece += isLast ? `${textOf(event)}id: ${item.position}\n\n` : `${textOf(event)}\n`
        if (!isLast && piece.length < maxPieceLength) continue
        length += piece.length
        onUnsent(Math.round((length / (index + 1)) * (item.events.length - index - 1)))
        yield piece
        piece = ''
      }
      return
    }
    case 'heartbeat': {
      // A comment, which keeps the connection open, and an id without an event, which the client resumes from.
      yield `:\nid: ${item.position}\n\n`
      return
    }
    case 'shutdown': {
      yield notice('restart', item.position)
      return
    }
    default:
      yield notice(item.kind, item.position)
  }
}

export const opening = (item: IteratorItem): string => `retry: ${retryMs}\n${[...piecesOf(item)].join('')}`

const notice = (event: string, position: Position): string =>
  `event: ${event}\nid: ${position}\ndata: ${JSON.stringify({ position })}\n\n`
