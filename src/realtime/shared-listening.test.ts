import assert from 'node:assert/strict'
import { test } from 'node:test'
import { created, TestLog } from '../../test/support/socket-broker.ts'
import { ChangeFeed } from './change-feed.ts'
import { SharedListening } from './shared-listening.ts'

function setUp() {
  const log = new TestLog()
  const received: unknown[] = []
  const feed = new ChangeFeed(log, (error) => assert.fail(String(error)))
  const listener = {
    wants: () => true,
    onOperation: ({ position }: { readonly position: string }) => void received.push(position),
    onGap: () => received.push('gap'),
  }
  return { log, received, listening: new SharedListening(feed, listener) }
}

test('a feed that could not be read is tried again', async () => {
  const { log, received, listening } = setUp()
  log.failing = new Error('the database is away')
  await assert.rejects(listening.begin(), log.failing)
  log.failing = undefined
  await listening.begin()
  log.write(created(1))
  await log.wake()
  assert.deepEqual(received, ['1'])
})

test('several users receive an operation once, and none after the end', async () => {
  const { log, received, listening } = setUp()
  await Promise.all([listening.begin(), listening.begin()])
  log.write(created(1))
  await log.wake()
  listening.end()
  log.write(created(2))
  await log.wake()
  assert.deepEqual(received, ['1'])
})
