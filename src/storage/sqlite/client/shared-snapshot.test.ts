import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { newFile } from '../../../../test/support/sqlite.ts'
import { currentPoll } from '../../../support/last-check.ts'
import { Connection } from './connection.ts'

const text = 'select count(*) from pet'

/** A connection for reads, and another program that writes. */
function open() {
  const path = newFile()
  const other = new DatabaseSync(path)
  other.exec('pragma journal_mode = wal; create table pet (id integer primary key)')
  let isWriting = false
  const reading = new Connection(path, { readOnly: true, isWriting: () => isWriting })
  return {
    reading,
    other,
    count: (poll?: number) => reading.read(text, [], undefined, poll)[0]?.[0],
    write: () => other.exec('insert into pet default values'),
    queue: (queued: boolean) => {
      isWriting = queued
    },
    [Symbol.dispose]() {
      reading[Symbol.dispose]()
      other.close()
    },
  }
}

describe('reads of requests that were sent before one poll', () => {
  test('share a transaction from the second one on, and others do not', () => {
    using file = open()
    const poll = currentPoll()
    const { count, write } = file
    assert.equal(count(poll), 0)
    write()
    assert.equal(count(poll), 1)
    write()
    assert.equal(count(poll), 1)
    assert.equal(count(), 2)
    assert.equal(count(poll), 2)
    write()
    assert.equal(count(poll - 1), 3)
    assert.equal(file.reading.inTransaction, false)
  })

  test('share none in a later turn', async () => {
    using file = open()
    const { count, write } = file
    const poll = currentPoll()
    for (let read = 0; read < 3; read++) assert.equal(count(poll), 0)
    await nextTurn()
    await nextTurn()
    const [checkpoint] = file.other.prepare('pragma wal_checkpoint(truncate)').all()
    assert.deepEqual({ ...checkpoint }, { busy: 0, log: 0, checkpointed: 0 })
    write()
    for (let read = 0; read < 3; read++) assert.equal(count(poll), 1)
  })

  test('share none while writes of this process are queued', () => {
    using file = open()
    const { count, write, queue } = file
    const poll = currentPoll()
    queue(true)
    for (let read = 0; read < 3; read++) assert.equal(count(poll), 0)
    write()
    assert.equal(count(poll), 1)
    queue(false)
    assert.equal(count(poll), 1)
    write()
    assert.equal(count(poll), 1)
  })

  test('are part of a transaction that is open, and end before another one begins', () => {
    using file = open()
    const { count, write, reading } = file
    const poll = currentPoll()
    for (let read = 0; read < 3; read++) count(poll)
    write()
    reading.exec('begin')
    assert.equal(reading.inTransaction, true)
    for (let read = 0; read < 3; read++) assert.equal(count(poll), 1)
    write()
    assert.equal(count(poll), 1)
    reading.exec('commit')
    assert.equal(count(poll), 2)
  })

  test('end with the connection', async () => {
    const file = open()
    const poll = currentPoll()
    for (let read = 0; read < 3; read++) file.count(poll)
    file[Symbol.dispose]()
    await nextTurn()
  })
})
