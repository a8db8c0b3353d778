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
  /** What the server does when connections have sent several short requests; `since`: the number of the first of the latest. */
  const readShort = (socket: Socket, since: number) => turns.holdActive(socket, since)
  const setRequest = (socket: Socket, request: number) => Object.assign(connections.get(socket) ?? {}, { request })
  return { accept, read, readShort, setRequest }
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

test('idle connections are held only when others than the active ones have sent as many short requests', async (t) => {
  const { accept, readShort, setRequest } = accepting(t)
  const [reader, active, idle, fresh] = [accept(), accept(), accept(), accept()]
  setRequest(reader, 90)
  setRequest(active, 80)
  setRequest(idle, 20)
  const isHeld = () => [active, idle, fresh].map((socket) => socket.isPaused())
  readShort(reader, 50)
  assert.deepEqual(isHeld(), [true, false, false])
  readShort(idle, 50)
  assert.deepEqual(isHeld(), [true, true, true])
  while (isHeld().some(Boolean)) await nextTurn()
  readShort(reader, 50)
  assert.deepEqual(isHeld(), [true, false, false], 'in a later turn')
  while (isHeld().some(Boolean)) await nextTurn()
})

test('idle connections are held at once when one has sent many requests in one piece', async (t) => {
  const { accept, read, readShort, setRequest } = accepting(t)
  const [reader, active, idle] = [accept(), accept(), accept()]
  setRequest(active, 80)
  readShort(reader, 50)
  assert.deepEqual([active.isPaused(), idle.isPaused()], [true, false])
  read(reader)
  assert.deepEqual([active.isPaused(), idle.isPaused()], [true, true])
  while (active.isPaused() || idle.isPaused()) await nextTurn()
})
