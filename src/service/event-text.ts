import type { Position } from '../protocol/change.ts'
import type { LiveItem } from '../realtime/live.ts'
import type { WatchedEvent } from '../realtime/watched.ts'

/** After this long one who lost the connection tries again. */
const retryMs = 2_000
/** Pieces of an operation are not longer than this, so that a reader's pace is felt within it. */
const longestPiece = 65_536

const texts = new WeakMap<WatchedEvent, string>()

/** An event without the end that makes it one. It is encoded once for everybody who hears it. */
function textOf(event: WatchedEvent): string {
  let text = texts.get(event)
  if (text === undefined) {
    text = `event: ${event.verb}\ndata: ${JSON.stringify(event)}\n`
    texts.set(event, text)
  }
  return text
}

export const sizeOf = (events: readonly WatchedEvent[]): number =>
  events.reduce((sum, event) => sum + Buffer.byteLength(textOf(event)), 0)

/**
 * An item as a stream of events spells it. Only the last event of an operation has an id: whoever resumes from one has
 * heard all of what happened together.
 */
export function* piecesOf(item: LiveItem): Generator<string> {
  switch (item.kind) {
    case 'operation': {
      let piece = ''
      for (const [index, event] of item.events.entries()) {
        const isLast = index === item.events.length - 1
        piece += isLast ? `${textOf(event)}id: ${item.position}\n\n` : `${textOf(event)}\n`
        if (!isLast && piece.length < longestPiece) continue
        yield piece
        piece = ''
      }
      return
    }
    case 'still': {
      // A comment, which keeps the connection; and an id without an event, which takes it further unheard.
      yield `:\nid: ${item.position}\n\n`
      return
    }
    default:
      yield notice(item.kind, item.position)
  }
}

export const opening = (item: LiveItem): string => `retry: ${retryMs}\n${[...piecesOf(item)].join('')}`

const notice = (kind: string, position: Position): string =>
  `event: ${kind}\nid: ${position}\ndata: ${JSON.stringify({ position })}\n\n`
