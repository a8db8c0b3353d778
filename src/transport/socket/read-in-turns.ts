import type { Duplex } from 'node:stream'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'

/** So many bytes hold few messages. */
export const readAtOnce = 4_096

/**
 * What a client has sent in one piece may be 64 kB of small messages, which are read together: once a turn of the event loop is
 * used, it is read in a later one. A short piece waits only when what was read before it has made the turn long. To be called when
 * `ws` listens to the connection. `setHeld` pauses it, and ends that pause.
 */
export function readInTurns(connection: Duplex, setHeld: (isHeld: boolean) => void): void {
  const read = connection.listeners('data').at(-1) as (chunk: Buffer) => void
  connection.off('data', read)
  connection.on('data', (chunk: Buffer) => {
    if (chunk.length > readAtOnce ? eventLoopTurn.isUsed : eventLoopTurn.isLong) {
      setHeld(true)
      connection.unshift(chunk)
      return void eventLoopTurn.next().then(() => setHeld(false))
    }
    // Answers to pings are one write.
    connection.cork()
    read.call(connection, chunk)
    connection.uncork()
  })
}
