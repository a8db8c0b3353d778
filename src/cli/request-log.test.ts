import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { logTo } from '../support/logger.ts'
import type { Observation } from '../support/observation.ts'
import { createOutput } from './output.ts'
import { requestLog } from './request-log.ts'

const cause = new Error('smtp down')
const dead = { kind: 'job', job: 'mail', outcome: 'dead', attempt: 3, error: cause } as const
const deadText = 'Job mail: attempt 3 failed and was the last one; the event is a dead letter: smtp down'
const lost = { kind: 'job', job: 'mail', outcome: 'eventsLost' } as const
const lostText = 'Job mail: events were lost, because the change log no longer contains them'

const dropped = { kind: 'job', job: 'mail', outcome: 'deadLettersDropped', count: 2 } as const
const droppedText =
  'Job mail: the 2 oldest dead letters were dropped, because there were more bytes of them than deadLetterKeepBytes'

const output = createOutput(false, process)

describe('with --log', () => {
  for (const [title, observation, text, from] of [
    ['a dead letter', dead, deadText, cause],
    ['lost events of a job', lost, lostText, undefined],
    ['dropped dead letters', dropped, droppedText, undefined],
  ] as const satisfies readonly (readonly [string, Observation, string, unknown])[])
    test(`${title}: onError or the console gets the name of the job`, (t) => {
      const printed = t.mock.method(console, 'error', () => {})
      const given: unknown[] = []
      logTo(requestLog(output, { onError: (error: unknown) => given.push(error) } as never))(observation)
      assert.equal(printed.mock.callCount(), 0)
      logTo(requestLog(output, {} as never))(observation)
      for (const error of [given[0], printed.mock.calls[0]?.arguments[0]]) {
        assert.ok(error instanceof Error)
        assert.equal(error.message, text)
        assert.equal(error.cause, from)
        assert.equal('cause' in error, from !== undefined)
      }
    })

  test('an unexpected error is printed only without onError, which receives it from the service', (t) => {
    const printed = t.mock.method(console, 'error', () => {})
    const onError = t.mock.fn()
    for (const config of [{ onError }, {}]) logTo(requestLog(output, config as never))({ kind: 'error', error: cause })
    assert.deepEqual(
      [printed.mock.calls.map(({ arguments: [error] }) => error), onError.mock.callCount()],
      [[cause], 0],
    )
  })
})
