import assert from 'node:assert/strict'
import cluster from 'node:cluster'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { WorkerPool } from './worker-pool.ts'

test('errors of a worker that has just ended do not end its parent', async (t) => {
  const child = Object.assign(new EventEmitter(), { pid: 1, connected: true, send() {}, kill: () => {} })
  // A worker of node:cluster repeats the errors of its process.
  const forked = Object.assign(new EventEmitter(), { id: 1, process: child })
  child.on('error', (error) => forked.emit('error', error))
  t.mock.method(cluster, 'setupPrimary', () => {})
  t.mock.method(cluster, 'fork', () => forked)
  const exited = Promise.withResolvers<number | undefined>()
  const pool = new WorkerPool(1, {}, { progress() {}, exited: exited.resolve, replaced() {}, failed: assert.ifError })
  const started = pool.start()
  child.emit('message', { kind: 'loaded', inMemoryDatabase: null, isSoleWriter: false })
  child.emit('message', { kind: 'ready', ready: {} })
  await started
  for (let count = 0; count < 3; count++) child.emit('error', new Error('write EPIPE'))
  assert.equal(await exited.promise, 1)
  await pool.stop()
})
