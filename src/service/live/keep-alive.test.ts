import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { anonymous, type Requester } from '../../protocol/requester.ts'
import { keepAlive, keepAliveMs } from './keep-alive.ts'

const userUntil = (expiresAt: string): Requester => ({ kind: 'user', user: { expiresAt } })

for (const [what, requester, called] of [
  ['has a heartbeat now and then', anonymous, ['heartbeat', 'heartbeat']],
  ['ends with the rights of its user', userUntil('2026-01-05T12:00:20.000Z'), ['heartbeat', 'stop']],
] as const)
  test(`a stream ${what}, until it is closed`, () => {
    const clock = new ManualClock()
    const calls: string[] = []
    const stream = { heartbeat: () => void calls.push('heartbeat'), stop: () => void calls.push('stop') }
    const alive = keepAlive(requester, clock, stream)
    clock.advance(keepAliveMs)
    clock.advance(keepAliveMs)
    alive[Symbol.dispose]()
    clock.advance(keepAliveMs)
    assert.deepEqual(calls, called)
  })
