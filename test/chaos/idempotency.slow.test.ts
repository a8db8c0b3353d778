import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { JsonObject } from '../../src/index.ts'
import { databases } from '../support/databases.ts'
import { seed } from '../support/seed.ts'
import { start } from './durability/process.ts'
import { Random } from './durability/random.ts'

/*
 * Clients that repeat a write with its Idempotency-Key until it is answered, while the service is killed again and again, also
 * between a commit and its answer: each write happened exactly once, and each repetition has the answer of the first.
 */

const rounds = 8
const clients = 6
/** The kill comes after fewer answers than these in a round, and a moment later. */
const mostAnswers = 60
const momentMs = 10

for (const { name, missing, open } of databases.filter(({ name }) => name !== 'memory')) {
  test(`killed at any moment on ${name}, a repeated write happens exactly once`, {
    skip: missing ?? false,
    timeout: 300_000,
  }, async (t) => {
    await using database = await open()
    t.diagnostic(`KEELSON_TEST_SEED=${seed}`)
    const random = new Random(seed)
    const answered = new Map<string, JsonObject>()
    const unanswered = new Set<string>()
    let repeated = 0
    const send = async (url: string, label: string) => {
      const response = await fetch(`${url}/tag?populate=false`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': label },
        body: JSON.stringify({ label }),
      })
      return { status: response.status, body: (await response.json()) as JsonObject, headers: response.headers }
    }
    /** Undefined: the connection ended before the answer. */
    const write = async (url: string, label: string): Promise<boolean> => {
      unanswered.add(label)
      const answer = await send(url, label).catch(() => undefined)
      if (!answer) return false
      // The first request is executed still, on a server that the killed process had asked.
      if (answer.status === 409) return false
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
      if (answer.headers.has('idempotency-replayed')) repeated++
      answered.set(label, answer.body)
      unanswered.delete(label)
      return true
    }
    let labels = 0
    for (let round = 0; round < rounds; round++) {
      const server = await start(database.url)
      const last = answered.size + 1 + random.below(mostAnswers)
      const enough = Promise.withResolvers<void>()
      const before = [...unanswered]
      const client = async () => {
        for (;;) {
          const label = before.pop() ?? `tag ${++labels}`
          if (!(await write(server.url, label)) && !(await isAlive(server.url))) return
          if (answered.size >= last) enough.resolve()
        }
      }
      const writing = Promise.all(Array.from({ length: clients }, client))
      await Promise.race([enough.promise, writing])
      await wait(random.below(momentMs))
      await server.kill()
      await writing
    }
    const server = await start(database.url)
    try {
      for (const label of [...unanswered]) while (!(await write(server.url, label))) await wait(20)
      const response = await fetch(`${server.url}/tag?limit=100000&populate=false`)
      const stored = (await response.json()) as readonly JsonObject[]
      assert.deepEqual(
        stored.map(({ label }) => label).toSorted(),
        [...answered.keys()].toSorted(),
        'each label is stored once',
      )
      for (const [label, body] of answered) {
        const again = await send(server.url, label)
        assert.deepEqual([again.status, again.body], [201, body])
        assert.equal(again.headers.get('idempotency-replayed'), 'true')
      }
    } finally {
      await server.kill()
    }
    t.diagnostic(`${answered.size} writes, ${repeated} of them were stored before a kill that took their answers`)
  })
}

const isAlive = (url: string): Promise<boolean> =>
  fetch(`${url}/tag?limit=1`).then(
    ({ ok }) => ok,
    () => false,
  )
