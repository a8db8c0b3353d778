import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, test } from 'node:test'
import { createService, type JsonObject, loadModels } from 'keelson'
import { checkedRules, ignoredModelOptions, ignoredOptions, renamedOptions } from '../../src/model/waterline/words.ts'

const root = new URL('./sails-applications/', import.meta.url)

interface Case {
  readonly models: string
  /** A record that is created, by the path of its model. */
  readonly create: readonly [path: string, values: JsonObject, answered: JsonObject]
  /** Values that the rules of the same model refuse. */
  readonly refused?: JsonObject
  /** Optional attributes with rules that an empty text does not violate. */
  readonly empty?: string
  /** Names in the notes on functions and members that are not used. */
  readonly notes?: readonly string[]
}

const isbn = '3-16'
const cases: Readonly<Record<string, Case>> = {
  accounts: {
    models: 'user',
    create: [
      '/user',
      {
        emailAddress: 'mary@example.com',
        password: 'secret',
        tosAcceptedByIp: '10.0.0.1',
        trialEndsAt: '2020-01-02 03:04',
      },
      {
        emailAddress: 'mary@example.com',
        trialEndsAt: '2020-01-02T03:04:00.000Z',
        billingCardLast4: '',
        lastSeenAt: null,
        tosAcceptedByIp: '10.0.0.1',
      },
    ],
    refused: { emailAddress: 'mary', password: '', fullName: '', tosAcceptedByIp: 'home', billingCardBrand: 'x' },
    empty: 'tosAcceptedByIp emailChangeCandidate billingCardBrand',
    notes: ['user.customToJSON'],
  },
  blog: {
    models: 'post user',
    create: [
      '/user',
      { login: 'mary', email: 'mary@example.com', password: 'secret' },
      { login: 'mary', email: 'mary@example.com', homepage: null, posts: [] },
    ],
    refused: { email: 'mary', password: 'short', homepage: 'x' },
    notes: ['user.displayName', 'user.toJSON'],
  },
  chat: {
    models: 'message room user',
    create: ['/room', { name: 'lobby' }, { name: 'lobby', members: [], messages: [] }],
  },
  legacy: {
    models: 'entry',
    create: [
      '/entry',
      {
        letters: 'abc',
        digits: '12',
        ratio: '1.5',
        v6: '::1',
        card: '4111111111111111',
        link: 'example.com',
        code: 'AB',
        provider: 'my-site_1',
      },
      { id: 1, letters: 'abc', digits: '12', ratio: '1.5', v6: '::1', code: 'AB', provider: 'my-site_1', kind: null },
    ],
    refused: {
      letters: '1',
      mixed: '-',
      digits: 'x',
      ratio: 'x',
      v6: '1.2.3.4',
      card: '4111',
      link: 'x',
      uid: 'x',
      yes: 'false',
      no: 'yes',
      other: 'root',
      part: 'xy',
      fixed: 'v2',
      code: 'ab',
      guid: 'x',
      web: 'x',
      mail: 'x',
      protocol: 'o-auth',
      provider: 'my site',
      kind: 'c',
    },
    empty: 'letters mixed digits ratio v6 card link uid part fixed code web mail protocol provider kind',
  },
  library: {
    models: 'book shelf',
    create: [
      '/book',
      { isbn, title: null, pages: 3, soldAt: '2020-01-01', copies: '9007199254740993' },
      { isbn, title: null, pages: 3, soldAt: '2020-01-01T00:00:00.000Z', cover: '#ffffff', copies: '9007199254740993' },
    ],
    refused: { isbn, title: 'x', pages: 0, language: 'fr', soldAt: '1999-01-01', cover: 'red', card: '1' },
  },
  modules: { models: 'person task', create: ['/task', { title: 'call' }, { title: 'call', done: false, owner: null }] },
  network: {
    models: 'group membership user',
    create: [
      '/user',
      { name: 'Ann' },
      { name: 'Ann', follows: [], followers: [], groups: [], team: [], supervisor: null },
    ],
  },
  payroll: {
    models: 'employee',
    create: [
      '/employee',
      { badge: 'AB12', salary: 100.5, birthday: '1980-05-04', grade: 'A' },
      { employeeId: 1, badge: 'AB12', birthday: '1980-05-04T00:00:00.000Z', grade: 'A', remarks: null },
    ],
    refused: { badge: 'ab', birthday: '1800-01-01', grade: 'C' },
  },
  sensors: {
    models: 'sensor',
    create: [
      '/sensor',
      { serial: 'ff', address: '::1', reading: -1, color: '#fff' },
      { serial: 'ff', address: '::1', reading: -1, color: '#fff', settings: {}, unit: null },
    ],
    refused: { serial: 'xyz', address: 'home', gateway: '::1', color: 'red', token: '1', unit: 'K' },
    notes: ['sensor.types.positive', 'sensor.reading.positive', 'sensor.findHot', 'sensor.UNITS'],
  },
  shop: {
    models: 'category product',
    create: [
      '/product',
      { sku: 'A-1', name: 'Lamp', price: '9.5', category: { title: 'Light' } },
      { sku: 'A-1', name: 'Lamp', price: 9.5, stock: 0, state: 'draft', picture: null },
    ],
    refused: { sku: 'A 1', price: -1, state: 'lost' },
  },
}

for (const [name, { models, create, refused, empty, notes = [] }] of Object.entries(cases)) {
  describe(`the Sails application "${name}"`, async () => {
    await using service = await createService({
      database: 'sqlite::memory:',
      compatibility: 'sails',
      models: await loadModels(new URL(`${name}/api/models`, root)),
    })
    const send = async (method: string, path: string, values: JsonObject) => {
      const body = JSON.stringify(values)
      const headers = { 'Content-Type': 'application/json' }
      const response = await service.fetch(new Request(`http://localhost${path}`, { method, body, headers }))
      return { status: response.status, answer: (await response.json()) as JsonObject }
    }
    const [path, values, answered] = create
    const served = [...service.models.values()].filter(({ isJunction }) => !isJunction).map((model) => model.name)
    const violated = refused && (await send('POST', path, refused))
    const created = await send('POST', path, values)
    const emptied = Object.fromEntries((empty?.split(' ') ?? []).map((attribute) => [attribute, '']))
    const updated = empty && (await send('PATCH', `${path}/${created.answer.id}`, emptied))

    test('has its models, named by their files in lower case', () => assert.equal(served.sort().join(' '), models))
    test('creates a record', () => {
      assert.equal(created.status, 201, JSON.stringify(created.answer))
      assert.deepEqual({ ...created.answer, ...answered }, created.answer)
    })
    test('has no protected attribute in its answers', () => {
      for (const word of ['password', 'salary']) assert.ok(!Object.hasOwn(created.answer, word))
    })
    test('refuses what its rules refuse', () => {
      if (!violated) return
      const { status, answer } = violated
      assert.equal(status, 400)
      const expected = Object.keys(refused).filter((attribute) => attribute !== 'isbn' && attribute !== 'title')
      assert.deepEqual(new Set(answer.attrNames as string[]), new Set(expected.concat(missing(answer, refused))))
    })
    test('accepts empty texts, which Sails stores for omitted values', async () => {
      if (updated) assert.deepEqual({ ...updated.answer, ...emptied }, updated.answer)
    })
    test('reports what it does not use', () => {
      const text = service.warnings.join('\n')
      for (const note of notes) assert.ok(text.includes(note), `${note} in ${text}`)
      assert.equal(service.warnings.length === 0, notes.length === 0)
    })
  })
}

/** Required attributes that were not among the refused values. */
const missing = (answer: JsonObject, refused: JsonObject): readonly string[] =>
  (answer.attrNames as string[]).filter((name) => !Object.hasOwn(refused, name))

test('every application in the folder is tested', () =>
  assert.deepEqual(
    readdirSync(root).filter((name) => !name.includes('.')),
    Object.keys(cases),
  ))

test('every word of Waterline is used by an application', async () => {
  const used = new Set<string>()
  for (const name of Object.keys(cases)) {
    for (const model of Object.values(await loadModels(new URL(`${name}/api/models`, root)))) {
      for (const option of Object.keys(model)) used.add(option)
      for (const attribute of Object.values(model.attributes ?? {})) {
        for (const option of Object.keys(attribute)) used.add(option)
      }
    }
  }
  const words = [...Object.keys(checkedRules), ...Object.keys(renamedOptions)]
  assert.deepEqual(
    words.filter((word) => !used.has(word)),
    [],
  )
  assert.ok([...ignoredOptions, ...ignoredModelOptions].some((word) => used.has(word)))
})
