import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DatabaseError, type Row } from '../../driver.ts'
import type { Connection } from './connection.ts'
import { Pool } from './pool.ts'
import type { QueryRequest } from './text-query.ts'
import { repeated, transact } from './transact.ts'

/** A connection to nothing, which can be lost without an error before its next use. */
class Fake {
  readonly number: number
  isDead = false
  isClosed = false
  failure: DatabaseError | undefined

  constructor(number: number) {
    this.number = number
  }

  async run(_: QueryRequest): Promise<readonly Row[]> {
    if (!this.isDead) return []
    this.failure = lost()
    throw this.failure
  }

  async close(): Promise<void> {
    this.isClosed = true
  }

  destroy(): void {
    this.failure ??= lost()
  }
}

const lost = () => new DatabaseError({ kind: 'lost' }, 'gone')

const poolOf = (size: number, waitMs = 10_000) => {
  const made: Fake[] = []
  const pool = new Pool({
    size,
    waitMs,
    open: async () => {
      const fake = new Fake(made.length)
      made.push(fake)
      return fake as unknown as Connection
    },
  })
  return { pool, made }
}

const numberOf = (connection: Connection) => (connection as unknown as Fake).number

describe('a pool', () => {
  test('opens at most its size, and hands released connections over', async () => {
    const { pool, made } = poolOf(2)
    let most = 0
    let now = 0
    const used = await Promise.all(
      Array.from({ length: 20 }, () =>
        pool.use(async (connection) => {
          most = Math.max(most, ++now)
          await new Promise(setImmediate)
          now--
          return numberOf(connection)
        }),
      ),
    )
    assert.equal(most, 2)
    assert.equal(made.length, 2)
    assert.deepEqual([...new Set(used)].toSorted(), [0, 1])
  })

  test('replaces a connection that was lost in use, also for waiters', async () => {
    const { pool, made } = poolOf(1)
    const first = pool.use(async () => {
      await new Promise(setImmediate)
      ;(made[0] as Fake).failure = lost()
    })
    const second = pool.use(async (connection) => numberOf(connection))
    await first
    assert.equal(await second, 1)
  })

  test('waiters are rejected with the connection error', async () => {
    const pool = new Pool({
      size: 1,
      waitMs: 10_000,
      open: async () => {
        await new Promise(setImmediate)
        throw lost()
      },
    })
    const both = await Promise.allSettled([pool.use(async () => 1), pool.use(async () => 2)])
    for (const outcome of both) assert.equal(outcome.status === 'rejected' && outcome.reason.reason.kind, 'lost')
  })

  test('a read that is aborted while its connection is opened is not begun', async () => {
    const { pool } = poolOf(1)
    const controller = new AbortController()
    let hasBegun = false
    const begin = async () => {
      hasBegun = true
    }
    const reading = pool.use(begin, { signal: controller.signal })
    controller.abort()
    await assert.rejects(reading, (error: DatabaseError) => error.reason.kind === 'aborted')
    assert.equal(hasBegun, false)
    await pool.use(begin)
    assert.equal(hasBegun, true)
  })

  test('close() closes idle connections, awaits used ones and rejects waiters', async () => {
    const { pool, made } = poolOf(2)
    await Promise.all([pool.use(async () => {}), pool.use(async () => {})])
    const release = Promise.withResolvers<void>()
    const used = pool.use(() => release.promise)
    let isClosed = false
    const closing = pool.close().then(() => (isClosed = true))
    await new Promise(setImmediate)
    assert.equal(isClosed, false)
    await assert.rejects(
      pool.use(async () => {}),
      DatabaseError,
    )
    release.resolve()
    await Promise.all([used, closing])
    assert.ok(made.every((fake) => fake.isClosed))
  })

  test('after a lost connection, a transaction does not try the other idle ones', async () => {
    const { pool, made } = poolOf(4)
    await Promise.all(Array.from({ length: 4 }, () => pool.use(() => new Promise(setImmediate))))
    for (const fake of made) fake.isDead = true
    const number = await repeated(pool, { resyncSequence: async () => false }, (connection, progress) =>
      transact(connection, async () => numberOf(connection), undefined, progress),
    )
    assert.equal(number, 4)
    assert.ok(made.slice(0, 3).every((fake) => fake.isClosed))
  })
})
