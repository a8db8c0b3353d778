import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { action, createService } from '../../src/index.ts'

/* What a rule may return, in every place that has rules. Anything else fails the request and allows nothing. */

type RuleFunction = () => never

const outcomes: readonly (readonly [what: string, rule: () => unknown])[] = [
  ['a promise', () => Promise.resolve(false)],
  ['a promise', () => Promise.resolve({ owner: 2 })],
  ['a promise', () => Promise.reject(new Error('not found'))],
  // biome-ignore lint/suspicious/noThenProperty: an object like a promise, as query builders return it
  ['an object of a class', () => Object.create({ then: () => undefined })],
  ['undefined', () => undefined],
  ['null', () => null],
  ['an object of a class', () => new Date()],
  ['an object of a class', () => new Map([['owner', 2]])],
  ['a list', () => []],
  ['a list', () => [{ owner: 2 }]],
  ['a number', () => 1],
  ['a string', () => 'admin'],
  ['a function', () => () => true],
]

/** In a condition, where `{}` would select every record. An action of the model or of the service takes no condition. */
const conditions: readonly (readonly [what: string, rule: () => unknown])[] = [
  ['a promise', () => ({ or: [{ owner: 2 }, Promise.resolve({ owner: 2 })] })],
  ['a promise', () => ({ and: [Promise.reject(new Error('a')), Promise.reject(new Error('b'))] })],
  ['a promise', () => ({ parent: Promise.resolve({ owner: 2 }) })],
  ['an object of a class', () => ({ and: [new Map([['owner', 2]])] })],
]

const run = () => 'ran'
const open = (place: Place, rule: RuleFunction, onError: (error: unknown) => void) =>
  createService({
    database: 'memory:',
    onError,
    access: { read: true, create: true, update: true, destroy: true },
    models: {
      note: {
        access: { read: true, create: true, update: true, destroy: true, ...(place.rule && { [place.rule]: rule }) },
        attributes: {
          owner: { type: 'number' },
          text: { type: 'string', access: place.attributeRule ? { [place.attributeRule]: rule } : {} },
          parent: { model: 'note' },
          replies: { collection: 'note', via: 'parent' },
        },
        actions: {
          ofRecord: action({ on: 'record', access: rule, run }),
          ofModel: action({ on: 'model', access: rule, run }),
        },
      },
    },
    actions: { ofService: action({ on: 'service', access: rule, run }) },
  } as never)
type TestService = Awaited<ReturnType<typeof open>>

interface Place {
  readonly rule?: string
  readonly attributeRule?: string
  readonly isOfOwnAction?: true
  /** As the messages name the rule. */
  readonly name: string
  readonly takesNoCondition?: true
  /** The status of a request, or nothing where the same process awaits the error. */
  ask(service: TestService): Promise<number | undefined>
}

const sent =
  (method: string, path: string, body?: object, accept = 'application/json') =>
  async (service: TestService): Promise<number> => {
    const headers = { Accept: accept, 'Content-Type': 'application/json' }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    return (await service.fetch(new Request(`http://localhost${path}`, init))).status
  }

// biome-ignore lint/suspicious/noExplicitAny: the models are made for each place
const awaited = (call: (note: any) => unknown) => async (service: TestService) => {
  await call((service.as({ id: 1 }).records as { readonly note: unknown }).note)
  return undefined
}

const read = { rule: 'read', name: '`read` of note' }
const ofRecord = { name: 'of the action ofRecord' }
const places: Readonly<Record<string, Place>> = {
  'GET a list': { ...read, ask: sent('GET', '/note') },
  'GET a record': { ...read, ask: sent('GET', '/note/1') },
  'GET an attribute': { attributeRule: 'read', name: '`read` of note.text', ask: sent('GET', '/note/1') },
  POST: { rule: 'create', name: '`create` of note', ask: sent('POST', '/note', { owner: 1 }) },
  PATCH: { rule: 'update', name: '`update` of note', ask: sent('PATCH', '/note/1', { owner: 1 }) },
  'PATCH of an attribute': {
    attributeRule: 'write',
    name: '`write` of note.text',
    ask: sent('PATCH', '/note/1', { text: 'new' }),
  },
  DELETE: { rule: 'destroy', name: '`destroy` of note', ask: sent('DELETE', '/note/1') },
  'add a member': { rule: 'add', name: '`add` of note', ask: sent('PUT', '/note/1/replies/2') },
  'remove a member': { rule: 'remove', name: '`remove` of note', ask: sent('DELETE', '/note/1/replies/3') },
  'an action on a record': { ...ofRecord, ask: sent('POST', '/note/1/ofRecord') },
  'an action on a model': {
    name: 'of the action ofModel',
    takesNoCondition: true,
    ask: sent('POST', '/note/ofModel'),
  },
  'an action on the service': {
    name: 'of the action ofService',
    takesNoCondition: true,
    ask: sent('POST', '/ofService'),
  },
  'an event stream': { ...read, ask: sent('GET', '/note', undefined, 'text/event-stream') },
  'a live query': { ...read, ask: sent('POST', '/live', { queries: { all: { model: 'note' } } }) },
  'find in the same process': { ...read, ask: awaited((note) => note.find()) },
  'a live query in the same process': { ...read, ask: awaited((note) => note.liveQuery().next()) },
  'events in the same process': { ...read, ask: awaited((note) => note.live().next()) },
  'an action in the same process': { ...ofRecord, ask: awaited((note) => note.ofRecord(1)) },
}

for (const [where, place] of Object.entries(places)) {
  describe(where, () => {
    for (const [what, rule] of [...outcomes, ...(place.takesNoCondition ? [] : conditions)]) {
      test(`a rule is refused: ${rule.toString().slice(6)}`, async () => {
        const errors: unknown[] = []
        await using service = await open(place, rule as RuleFunction, (error) => errors.push(error))
        const { note } = service.system.records as never as { readonly note: Rows }
        await note.createMany([{ owner: 1, text: 'a' }, { owner: 1 }, { owner: 1, parent: 1 }])
        const before = await note.find()

        const status = await place.ask(service).catch((error: unknown) => void errors.push(error))
        assert.ok(status === 500 || status === undefined, `it was answered with ${status}`)
        assert.equal(
          String(errors[0]),
          `TypeError: The access rule ${place.name} returned ${what}: access rules are synchronous, and return true, false or a condition, which is a plain object`,
        )
        assert.deepEqual(await note.find(), before)
        // A rejection that nothing handles fails the test that still runs.
        await setImmediate()
      })
    }
  })
}

test('a rule whether an attribute is written takes no condition', async () => {
  const errors: unknown[] = []
  const rule = (() => ({ owner: 1 })) as never
  const name = '`write` of note.text'
  const place = { attributeRule: 'write', name, ask: sent('POST', '/note', { text: 'new' }) }
  await using service = await open(place, rule, (error) => errors.push(error))
  assert.equal(await place.ask(service), 500)
  assert.equal(
    String(errors[0]),
    `TypeError: The access rule ${name} must return true or false: it does not depend on the record`,
  )
})

for (const attributeRule of ['read', 'write']) {
  test(`a rule of an attribute runs once for a request of many records: ${attributeRule}`, async () => {
    let runs = 0
    const rule = (() => ++runs > 0) as never
    const list = [{ text: 'a' }, { text: 'b', parent: { text: 'c' } }]
    const place = { attributeRule, name: '', ask: sent('POST', '/note', list) }
    await using service = await open(place, rule, () => {})
    assert.equal(await place.ask(service), 201)
    assert.equal(runs, 1)
  })
}

interface Rows {
  createMany(list: readonly object[]): Promise<unknown>
  find(): Promise<unknown>
}

interface Told {
  readonly verb: string
  readonly id?: unknown
}

async function told(events: AsyncIterator<Told>): Promise<string> {
  const { verb, id } = (await events.next()).value as Told
  return id === undefined ? verb : `${verb} ${id}`
}

test('a rule with another outcome later holds for the subscriptions that begin then, also of the same requester', async () => {
  let now = 10
  await using service = await createService({
    database: 'memory:',
    auth: { identify: () => null },
    models: {
      post: {
        access: { read: () => ({ until: { '>': now } }) },
        attributes: { text: { type: 'string' }, until: { type: 'number' } },
      },
    },
  })
  const { post } = service.system.records
  const anonymous = service.as(null).records
  const listen = async () => {
    const events: AsyncIterator<Told> = anonymous.post.live()
    assert.equal(await told(events), 'ready')
    return events
  }
  for (const until of [20, 40]) await post.create({ until })
  const before = await listen()
  for (const id of [1, 2]) await post.update(id, { text: 'a' })
  assert.deepEqual([await told(before), await told(before)], ['updated 1', 'updated 2'])
  now = 30
  const after = await listen()
  for (const id of [1, 2]) await post.update(id, { text: 'b' })
  assert.equal(await told(after), 'updated 2')
  await Promise.all([before.return?.(), after.return?.()])
})
