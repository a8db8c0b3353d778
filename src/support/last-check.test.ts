import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentPoll, LastCheck } from './last-check.ts'

test('a look serves requests of the same poll whose answers name the same position', async () => {
  const look = new LastCheck()
  const poll = currentPoll()
  assert.equal(look.serves(poll, 'a'), false)
  assert.equal(look.serves(poll, 'a'), true)
  assert.equal(look.serves(poll, 'b'), false)
  assert.equal(look.serves(poll, 'b'), true)
  assert.equal(look.serves(undefined, 'b'), false)
  assert.equal(look.serves(poll, 'b'), false)
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  assert.notEqual(currentPoll(), poll)
  assert.equal(look.serves(poll, 'b'), false)
})
