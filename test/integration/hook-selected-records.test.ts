import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/*
 * The hooks before a write of the records that match a condition run before its transaction, so that they may wait for other writes; also in
 * a batch and with an Idempotency-Key. Those of records that match since an earlier request of the batch run within it.
 */

let ran: string[] = []
/** What a hook waits for. */
let wait: () => Promise<unknown> = async () => {}

const hooked = async (write: string, name: string) => {
  ran.push(`${write} ${name}`)
  await wait()
}
interface Context {
  readonly previous: { readonly name: string }
}
const models = {
  pet: {
    attributes: {
      name: { type: 'string', required: true },
      kind: { type: 'string' },
      toys: { collection: 'toy', via: 'pet' },
    },
    hooks: {
      before: {
        update: (_: object, { previous }: Context) => hooked('update', previous.name),
        destroy: ({ previous }: Context) => hooked('destroy', previous.name),
      },
    },
  },
  toy: {
    attributes: { name: { type: 'string' }, pet: { model: 'pet', onDestroy: 'cascade' } },
    hooks: { before: { destroy: ({ previous }: Context) => hooked('destroy', previous.name) } },
  },
  note: {
    access: {
      read: true,
      update: ({ user }: { user: { id: number } | null }) => ({ owner: user?.id ?? 0 }),
      destroy: ({ user }: { user: { id: number } | null }) => ({ owner: user?.id ?? 0 }),
    },
    attributes: { name: { type: 'string' }, owner: { type: 'number' } },
    hooks: {
      before: {
        update: (_: object, { previous }: Context) => hooked('update', previous.name),
        destroy: ({ previous }: Context) => hooked('destroy', previous.name),
      },
    },
  },
  visit: { attributes: { reason: { type: 'string' } } },
} as const

const dogs = '/pet?where={"kind":"dog"}&populate=false'
const requests = [
  ['PATCH', { kind: 'cat' }, ['update Rex', 'update Tom']],
  ['DELETE', undefined, ['destroy Rex', 'destroy Tom', 'destroy ball']],
] as const

for (const database of databases) {
  describe(`hooks of records that match a condition on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    // biome-ignore lint/suspicious/noExplicitAny: the types of records are not the subject
    let service: any
    before(async () => {
      opened = await database.open()
      const limits = { transactionTimeoutMs: 500, hookTimeoutMs: 2_000 }
      service = await createService({ database: opened.url, models: models as never, limits })
    })
    beforeEach(async () => {
      const { pet } = service.system.records
      wait = async () => {}
      await pet.destroyMany({ where: { id: { '!=': null } } })
      await pet.createMany([
        { name: 'Rex', kind: 'dog', toys: [{ name: 'ball' }] },
        { name: 'Tom', kind: 'dog' },
        { name: 'Kit', kind: 'cat' },
      ])
      ran = []
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })
    const send = (method: string, url: string, body?: object, own: object = {}): Promise<Response> => {
      const headers = { 'Content-Type': 'application/json', ...own }
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      return service.fetch(new Request(`http://localhost${url}`, init))
    }
    const another = async () => assert.equal((await send('POST', '/visit', { reason: 'check' })).status, 201)

    for (const [method, body, expected] of requests) {
      for (const [form, ask] of [
        ['alone', () => send(method, dogs, body)],
        [
          'with an Idempotency-Key',
          () => send(method, dogs, body, { 'Idempotency-Key': `${method} ${database.name}` }),
        ],
        ['in a batch', () => send('POST', '/batch', [{ method, url: dogs, body }])],
      ] as const)
        test(`they run once, and may wait for other writes: ${method} ${form}`, async () => {
          wait = another
          assert.equal((await ask()).status, 200)
          assert.deepEqual(ran, expected)
          assert.equal(await service.system.records.pet.count({ where: { kind: 'dog' } }), 0)
        })

      test(`a record that matches since an earlier request of the batch has its hook as well: ${method}`, async () => {
        const first = { method: 'POST', url: '/pet', body: { name: 'new', kind: 'dog' } }
        const answer = await send('POST', '/batch', [first, { method, url: dogs, body }])
        assert.equal(answer.status, 200)
        assert.deepEqual(ran, [...expected, method === 'PATCH' ? 'update new' : 'destroy new'])
        assert.equal(await service.system.records.pet.count({ where: { kind: 'dog' } }), 0)
      })
    }

    test('none runs where one of the records may not be changed', async () => {
      await service.system.records.note.createMany([
        { name: 'mine', owner: 1 },
        { name: 'yours', owner: 2 },
      ])
      const { note } = service.as({ id: 1 }).records
      const where = { id: { '!=': null } }
      await assert.rejects(note.updateMany({ where }, { name: 'new' }), { code: 'E_FORBIDDEN' })
      await assert.rejects(note.destroyMany({ where }), { code: 'E_FORBIDDEN' })
      assert.deepEqual(ran, [])
      await note.updateMany({ where: { owner: 1 } }, { name: 'new' })
      await note.destroyMany({ where: { owner: 1 } })
      assert.deepEqual(ran, ['update mine', 'destroy new'])
    })
  })
}
