import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService, type JsonObject, job } from '../../src/index.ts'

/* Models of a Sails application, with options of this package beside those of Waterline. */

const auth = {
  identify: ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) =>
    headers.authorization === 'Bearer ann' ? { id: 1 } : null,
}
const serve = (config: object) =>
  createService({
    database: 'sqlite::memory:',
    compatibility: 'sails',
    unknownAttributes: 'ignore',
    ...config,
  } as never)
type Service = Awaited<ReturnType<typeof serve>>

async function request(service: Service, method: string, path: string, values?: JsonObject, authorization = 'none') {
  const headers = { 'Content-Type': 'application/json', Authorization: authorization }
  const body = values === undefined ? null : JSON.stringify(values)
  const response = await service.fetch(new Request(`http://localhost${path}`, { method, headers, body }))
  return { status: response.status, answer: (await response.json()) as JsonObject }
}

test('the access rules of a model and of an attribute hold', async () => {
  const secret = { type: 'string', protect: false, access: { read: false } }
  const access = { read: true, create: ({ user }: { readonly user: unknown }) => user !== null }
  const models = { pet: { schema: true, attributes: { name: { type: 'string', required: true }, secret }, access } }
  await using service = await serve({ models, auth })
  assert.deepEqual(service.warnings, [])
  assert.equal((await request(service, 'POST', '/pet', { name: 'Rex' })).status, 403)
  const made = await request(service, 'POST', '/pet', { name: 'Rex', secret: 'x' }, 'Bearer ann')
  assert.deepEqual([made.status, made.answer.secret], [201, undefined])
  assert.equal((await request(service, 'DELETE', '/pet/1', undefined, 'Bearer ann')).status, 403)
})

test('rules that are no rules are refused, as those of any model', async () => {
  const attributes = { name: { type: 'string' } }
  const isUser = ({ user }: { readonly user: unknown }) => user !== null
  const refused = (model: object) => assert.rejects(serve({ models: { pet: model } }), /access/)
  await refused({ attributes, access: isUser })
  await refused({ attributes, Access: { read: true } })
  await refused({ attributes: { name: { type: 'string', access: isUser } } })
})

test('hooks run, after the lifecycle callbacks of the same write', async () => {
  const calls: string[] = []
  const note = (name: string) => () => void calls.push(name)
  const pet = {
    attributes: { name: { type: 'string' }, by: { type: 'string' } },
    beforeValidate(values: { name: string }, proceed: () => void) {
      calls.push('beforeValidate')
      values.name = values.name.trim()
      setImmediate(proceed)
    },
    beforeCreate: note('beforeCreate'),
    beforeDestroy: note('beforeDestroy'),
    afterCreate: note('afterCreate'),
    hooks: {
      before: {
        create: (values: JsonObject) => {
          calls.push(`before.create ${values.name}`)
          return { ...values, by: 'hook' }
        },
        destroy: note('before.destroy'),
      },
      within: { create: note('within.create'), update: note('within.update') },
    },
  }
  await using service = await serve({ models: { pet } })
  assert.deepEqual(service.warnings, [])
  const { answer } = await request(service, 'POST', '/pet', { name: ' Rex ' })
  assert.deepEqual([answer.name, answer.by], ['Rex', 'hook'])
  assert.deepEqual(calls.splice(0), [
    'beforeValidate',
    'before.create Rex',
    'beforeCreate',
    'within.create',
    'afterCreate',
  ])
  await request(service, 'PATCH', '/pet/1', { name: ' Tom ' })
  assert.deepEqual(calls.splice(0), ['beforeValidate', 'within.update'])
  await request(service, 'DELETE', '/pet/1')
  assert.deepEqual(calls, ['beforeDestroy', 'before.destroy'])
})

test('hooks that are no hooks are refused beside callbacks', async () => {
  const pet = {
    attributes: { name: { type: 'string' } },
    beforeCreate: () => {},
    hooks: { before: { creat: () => {} } },
  }
  await assert.rejects(serve({ models: { pet } }), /hooks\.before\.creat/)
})

test('computed attributes, jobs and other options have their meaning', async () => {
  const greeted = Promise.withResolvers<unknown>()
  const pet = {
    writers: 'self',
    attributes: {
      name: { type: 'string' },
      loud: { type: 'string', computed: ['name'], get: ({ name }: { readonly name: string }) => name.toUpperCase() },
    },
    on: { created: job('greet', ({ name }) => greeted.resolve(name)) },
    KINDS: ['cat', 'dog'],
    ACCESS: { READ: 1 },
  }
  await using service = await serve({ models: { pet } })
  assert.deepEqual(service.warnings, ['Members of models that have no effect: pet.KINDS, pet.ACCESS.'])
  await service.listen(0)
  assert.equal((await request(service, 'POST', '/pet', { name: 'Rex' })).answer.loud, 'REX')
  assert.equal(await greeted.promise, 'Rex')
})

test('a record with an empty text for a UUID, which Sails has stored, can be sent back: it is null', async () => {
  const seen: unknown[] = []
  const pet = {
    attributes: {
      name: { type: 'string' },
      uid: { type: 'string', isUUID: true },
      key: { type: 'uuid', required: true },
    },
    beforeValidate: (values: JsonObject) => void seen.push(values.uid),
  }
  await using service = await serve({ models: { pet } })
  const key = '3f1e4b9a-8a0b-4c39-9b4a-3c9f4a0e6a11'
  const made = await request(service, 'POST', '/pet', { uid: '', key })
  assert.deepEqual([made.status, made.answer.uid], [201, null])
  await request(service, 'PATCH', '/pet/1', { uid: key })
  const sent = await request(service, 'PUT', '/pet/1', { name: 'Rex', uid: '' })
  assert.deepEqual([sent.status, sent.answer.uid], [200, null])
  assert.deepEqual(seen, [null, key, null])
  for (const values of [{ key: '' }, { uid: 'x' }] as JsonObject[])
    assert.equal((await request(service, 'PATCH', '/pet/1', values)).status, 400)
})
