import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { action, createService } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'

type Send = (name: string) => readonly [path: string, method: string, body: unknown]

const pets = (name: string) => Array.from({ length: 400 }, () => ({ name }))

/** The writes of `sends` wait in a hook: the names of those that have reached it. */
async function blockedWrites(send: Send) {
  const begun = new Set<string>()
  const open = Promise.withResolvers<void>()
  const service = await createService({
    database: 'sqlite::memory:',
    models: {
      owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
      pet: {
        attributes: { name: { type: 'string' }, owner: { model: 'owner' } },
        hooks: {
          before: {
            async create({ name }) {
              begun.add(String(name))
              await open.promise
            },
          },
        },
      },
    },
    actions: {
      tag: action({
        on: 'service',
        transaction: false,
        input: v.array(v.object({ name: v.string() })),
        run: async ({ input: [first] }) => {
          begun.add(String(first?.name))
          await open.promise
        },
      }),
    },
  })
  const { url } = await service.listen(0)
  const post = (name: string, signal?: AbortSignal) => {
    const [path, method, body] = send(name)
    return fetch(new URL(path, url), {
      method,
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
      signal: signal ?? null,
    }).then(async (response) => {
      await response.arrayBuffer()
      return response.status
    })
  }
  return { service, begun, open: open.resolve, post }
}

for (const [title, send] of [
  ['lists of records', (name) => ['/pet', 'POST', pets(name)]],
  ['records with new members', (name) => ['/owner', 'POST', { name, pets: pets(name) }]],
  ['batches', (name) => ['/batch', 'POST', [{ method: 'POST', url: '/pet', body: pets(name) }]]],
  [
    'batches that are not atomic',
    (name) => ['/batch?atomic=false', 'POST', [{ method: 'POST', url: '/pet', body: pets(name) }]],
  ],
] satisfies readonly [string, Send][]) {
  test(`${title}: further ones wait, are not executed for clients that have left, and are answered`, async () => {
    const { service, begun, open, post } = await blockedWrites(send)
    await using _ = service
    const names = Array.from({ length: 15 }, (_, index) => `n${index}`)
    const leaving = new AbortController()
    const answers = names.map((name) => post(name, name === 'n14' ? leaving.signal : undefined))
    const left = assert.rejects(answers.pop() as Promise<number>)
    await eventually(() => begun.size >= 10)
    // Time for one more to begin, if it did not wait.
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.ok(begun.size <= 11, `${begun.size} of 15 are executed at once`)
    leaving.abort()
    await left
    const wasBegun = begun.has('n14')
    open()
    for (const status of await Promise.all(answers)) assert.ok(status === 201 || status === 200, String(status))
    const stored = await service.system.records.pet.count()
    assert.equal(stored, (wasBegun ? 15 : 14) * 400)
  })
}

test('what an action is sent does not wait for others', async () => {
  const { service, begun, open, post } = await blockedWrites((name) => ['/tag', 'POST', pets(name)])
  await using _ = service
  const answers = Array.from({ length: 15 }, (_, index) => post(`n${index}`))
  await eventually(() => begun.size === 15)
  open()
  await Promise.all(answers)
})
