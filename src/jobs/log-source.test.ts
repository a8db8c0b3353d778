import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { defineModels } from '../model/define.ts'
import type { Change } from '../protocol/change.ts'
import { indexAssociations } from '../realtime/association-index.ts'
import type { ChangeLog } from '../storage/change-log.ts'
import type { EventSink } from './job-runner.ts'
import { LogSource } from './log-source.ts'

const associations = indexAssociations(defineModels({ pet: { attributes: { name: { type: 'string' } } } }))

for (const [what, bytes, most] of [
  ['short records', 100, 1_000],
  ['records of a megabyte', 2_000_000, 5],
] as const)
  test(`the log is read until a thousand changes wait, or some megabytes: ${what}`, async () => {
    const reads: number[] = []
    const log = {
      onChange: () => ({ [Symbol.dispose]() {} }),
      async read() {
        const id = reads.push(reads.length)
        if (id === 2_000) throw new Error('the log is read without an end')
        const position = String(id)
        const change: Change = {
          verb: 'created',
          model: 'pet',
          id,
          after: { id },
          operation: position,
          position,
          at: '',
        }
        return { changes: [change], position, bytes }
      },
    } as unknown as ChangeLog
    const source = new LogSource({
      log,
      position: '0',
      wanted: new Map([['pet', new Set(['created'] as const)]]),
      associations: associations,
      maxWaiting: 10_000,
      maxBytesWaiting: 10_000,
      clock: new ManualClock(),
      onError(error) {
        throw error
      },
    })
    const added: string[] = []
    const sink: EventSink = {
      inMemory: 0,
      bytesInMemory: 0,
      waiting: 0,
      bytesWaiting: 0,
      add: ({ eventId, bytes }) => {
        added.push(eventId)
        Object.assign(sink, { inMemory: added.length, bytesInMemory: sink.bytesInMemory + bytes })
      },
      save() {},
      lost() {},
    }
    source.poll(sink)
    for (let before = -1; before < reads.length; ) {
      before = reads.length
      await new Promise(setImmediate)
    }
    assert.equal(added.length, most)
    Object.assign(sink, { inMemory: 0, bytesInMemory: 0 })
    source.poll(sink)
    for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate)
    assert.ok(added.length > most)
    source.stop()
  })
