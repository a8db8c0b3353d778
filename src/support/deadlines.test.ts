import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Deadlines } from './deadlines.ts'

test('what is not removed is called in order, once', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  let now = 0
  context.mock.method(performance, 'now', () => now)
  const pass = (ms: number) => {
    now += ms
    context.mock.timers.tick(ms)
  }
  const called: string[] = []
  const deadlines = new Deadlines(100)
  const removed = () => void called.push('removed')
  deadlines.add(() => called.push('first'))
  deadlines.add(removed)
  pass(60)
  deadlines.add(() => called.push('second'))
  deadlines.remove(removed)
  pass(40)
  assert.deepEqual(called, ['first'])
  pass(59)
  assert.deepEqual(called, ['first'])
  pass(1)
  assert.deepEqual(called, ['first', 'second'])
  pass(1000)
  deadlines.add(() => called.push('third'))
  pass(100)
  assert.deepEqual(called, ['first', 'second', 'third'])
})
