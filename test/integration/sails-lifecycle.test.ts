import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService } from '../../src/index.ts'

/* Lifecycle callbacks of Sails applications, in the styles of 0.x and 1.x. */

const calls: string[] = []
const reported: unknown[] = []
const later = () => new Promise(setImmediate)

// biome-ignore-start lint/suspicious/noExplicitAny: as applications without types write them
const user = {
  attributes: {
    name: { type: 'string', required: true, maxLength: 8 },
    password: { type: 'string', minLength: 3, maxLength: 8 },
    role: { type: 'string', defaultsTo: 'guest' },
  } as const,
  beforeValidate(values: any, next: any) {
    calls.push('beforeValidate')
    if (values.name) values.name = values.name.trim()
    setImmediate(next)
  },
  afterValidate: [
    (_values: any, next: any) => {
      calls.push('afterValidate')
      next(null, _values)
    },
  ],
  async beforeCreate(values: any) {
    await later()
    calls.push(`beforeCreate ${values.role}`)
    if (values.name === 'refused') throw new Error('no such name')
    values.password = `hash of ${values.password}`
  },
  beforeUpdate: async (values: any, proceed: any) => {
    calls.push('beforeUpdate')
    if (values.name === 'refused') return proceed(new Error('no such name'))
    if (values.name === 'number') values.password = {}
    return proceed()
  },
  beforeDestroy: (criteria: any, proceed: any) => {
    calls.push(`beforeDestroy ${JSON.stringify(criteria)}`)
    proceed()
  },
  afterCreate(record: any, proceed: any) {
    calls.push(`afterCreate ${record.name}`)
    proceed(record.name === 'late' ? 'too late' : undefined)
  },
  afterUpdate: async (record: any) => void calls.push(`afterUpdate ${record.name}`),
  afterDestroy: (record: any) => void calls.push(`afterDestroy ${record.name}`),
}
// biome-ignore-end lint/suspicious/noExplicitAny: see above

test('lifecycle callbacks run at their moments in Waterline', async () => {
  const onError = (error: unknown) => reported.push(error)
  // The callbacks are of JavaScript: the type of a model has none.
  const models: { readonly user: { readonly attributes: typeof user.attributes } } = { user }
  await using service = await createService({
    database: 'sqlite::memory:',
    compatibility: 'sails',
    models,
    onError,
  })
  const records = service.system.records.user
  assert.deepEqual(service.warnings, [])

  const made = await records.create({ name: '  Mary    ', password: 'secret' })
  assert.equal(made.name, 'Mary')
  assert.equal(made.password, 'hash of secret', 'rules are not applied to what follows validation')
  assert.deepEqual(calls.splice(0), ['beforeValidate', 'afterValidate', 'beforeCreate guest', 'afterCreate Mary'])

  await records.update(made.id, { name: 'Ann' })
  assert.deepEqual(calls.splice(0), ['beforeValidate', 'afterValidate', 'beforeUpdate', 'afterUpdate Ann'])

  await records.destroy(made.id)
  assert.deepEqual(calls.splice(0), [`beforeDestroy {"where":{"id":${made.id}}}`, 'afterDestroy Ann'])

  await assert.rejects(records.create({ name: 'Bo', password: 'x' }), /password/)
  assert.deepEqual(calls.splice(0), ['beforeValidate'])

  await assert.rejects(records.create({ name: 'refused', password: 'secret' }), /no such name/)
  assert.equal(await records.count(), 0)
  const bo = await records.create({ name: 'Bo', password: 'secret' })
  await assert.rejects(records.update(bo.id, { name: 'refused' }), /no such name/)
  await assert.rejects(records.update(bo.id, { name: 'number' }), /beforeUpdate of user set "password"/)

  calls.length = 0
  assert.equal((await records.create({ name: 'late', password: 'secret' })).name, 'late')
  assert.match(String(reported), /too late/)
  assert.equal(await records.count(), 2, 'what is committed stays')

  await assert.rejects(
    service.system.transaction(async (tx) => {
      await tx.user.create({ name: 'Cy', password: 'secret' })
      calls.length = 0
      throw new Error('rolled back')
    }),
  )
  assert.deepEqual(calls, [], 'nothing follows a commit that did not happen')
})

test('a callback of a new record may set its key, which is required after it', async () => {
  // biome-ignore-start lint/suspicious/noExplicitAny: as applications without types write them
  const key = { type: 'string', primaryKey: true, unique: true } as any
  const set = (values: any, next: any) => {
    if (values.name !== 'none') values.code = values.name === 'empty' ? '' : (values.code ?? `key of ${values.name}`)
    next()
  }
  // biome-ignore-end lint/suspicious/noExplicitAny: see above
  const pet = { autoPK: false, attributes: { code: key, name: { type: 'string' }, owner: { model: 'owner' } } }
  const owner = {
    autoPK: false,
    attributes: { code: key, name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } },
  }
  await using service = await createService({
    database: 'sqlite::memory:',
    compatibility: 'sails',
    models: { pet: { ...pet, beforeCreate: set }, owner: { ...owner, beforeCreate: [set] } },
    onError: (error: unknown) => reported.push(error),
  } as never)
  const create = async (path: string, values: object) => {
    const body = JSON.stringify(values)
    const headers = { 'Content-Type': 'application/json' }
    const response = await service.fetch(new Request(`http://localhost${path}`, { method: 'POST', body, headers }))
    // biome-ignore lint/suspicious/noExplicitAny: the answers differ
    return { status: response.status, answer: (await response.json()) as any }
  }
  assert.equal((await create('/pet', { name: 'Rex' })).answer.code, 'key of Rex')
  assert.equal((await create('/pet', { name: 'Tom', code: 'own' })).answer.code, 'own')
  const { answer } = await create('/owner', { name: 'Ann', pets: [{ name: 'Kim' }, 'own'] })
  assert.equal(answer.code, 'key of Ann')
  assert.deepEqual(answer.pets.map(({ code }: { code: string }) => code).sort(), ['key of Kim', 'own'])
  const many = await create('/pet', [{ name: 'One' }, { name: 'Two' }])
  assert.deepEqual(
    many.answer.map(({ code }: { code: string }) => code),
    ['key of One', 'key of Two'],
  )
  for (const path of ['/pet', '/owner']) {
    const missing = await create(path, { name: 'none' })
    assert.deepEqual([missing.status, missing.answer.detail], [400, 'code is required'])
    assert.deepEqual(missing.answer.invalidAttributes, { code: [{ rule: 'required', message: 'is required' }] })
  }
  const nested = await create('/owner', { name: 'Bo', pets: [{ name: 'none' }] })
  assert.deepEqual([nested.status, nested.answer.attrNames], [400, ['pets.0.code']])
  reported.length = 0
  assert.equal((await create('/pet', { name: 'empty' })).status, 500)
  assert.match(String(reported), /beforeCreate of pet set "code" to an empty text/)
})
