import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { blockEventLoop } from '../../../test/support/block-event-loop.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { Connections } from './connections.ts'
import { ReadingTurns } from './reading-turns.ts'

/** What the server does when a connection is accepted, and when one has sent many requests in one piece. */
function accepting(t: TestContext) {
  const connections = new Connections()
  const turns = new ReadingTurns(connections)
  const accept = () => {
    const socket = new Socket()
    connections.add(socket)
    t.after(() => socket.destroy())
    return socket
  }
  const read = (socket: Socket) => {
    turns.stop(socket)
    turns.holdOthers(socket)
  }
  return { accept, read }
}

test('a connection that was held in one turn is not held in the next for one that was opened meanwhile', async (t) => {
  const { accept, read } = accepting(t)
  const [other, first, held] = [accept(), accept(), accept()]
  read(first)
  assert.ok(other.isPaused() && held.isPaused())
  while (other.isPaused()) await nextTurn()
  assert.ok(!held.isPaused())
  const later = accept()
  const last = accept()
  read(later)
  assert.ok(last.isPaused())
  assert.ok(!other.isPaused())
  read(held)
  assert.ok(other.isPaused(), 'one connection that was held is read in a turn')
  while (other.isPaused()) await nextTurn()
})

test('a connection that was held is read before what waits already is continued', async (t) => {
  const { accept, read } = accepting(t)
  const [first, held] = [accept(), accept()]
  let continued = 0
  const waiting = Array.from({ length: 5 }, async () => {
    await eventLoopTurn.next()
    blockEventLoop(10)
    continued++
  })
  blockEventLoop(10)
  read(first)
  assert.ok(held.isPaused())
  while (held.isPaused()) await nextTurn()
  assert.ok(continued <= 1, `${continued} are continued before it`)
  await Promise.all(waiting)
})
