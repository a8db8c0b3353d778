import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { Command, folder } from '../../../test/support/command.ts'
import { createService } from '../../index.ts'

const config = `export default {
  models: {
    person: {
      access: { read: true, update: ({ user }) => ({ id: user.id }), destroy: 'admin' },
      attributes: {
        name: { type: 'string' },
        email: { type: 'string', access: { read: ({ user }) => ({ id: user?.id ?? null }) } },
        salary: { type: 'number', access: { read: 'hr', write: 'hr' } },
        hash: { type: 'string', hidden: true },
      },
    },
    pet: {
      access: {
        read: ({ user }) => user?.role === 'admin' || { or: [{ lost: true }, { owner: user?.id ?? null }] },
        update: ({ user }) => ({ owner: { name: { '!=': user?.name ?? 'Ann' } } }),
        destroy: false,
      },
      attributes: { lost: { type: 'boolean' }, owner: { model: 'person' } },
    },
    note: { attributes: { text: { type: 'string' } } },
    task: {
      attributes: { by: { type: 'number' } },
      actions: {
        close: { on: 'record', access: ({ user }) => ({ by: user?.id ?? null }), run() {} },
        reset: { on: 'model', access: 'admin', run() {} },
        hidden: { on: 'model', run() {} },
      },
      access: { read: true },
    },
  },
  actions: { ping: { on: 'service', access: true, run() {} } },
}`

const ann = '{"id":1,"name":"Bob"}'

describe('without opening the database', () => {
  const cwd = folder({ 'keelson.config.mjs': config })
  const run = async (...args: readonly string[]) => {
    const command = new Command(['access', ...args], { cwd })
    const ended = await command.ended
    return { ...ended, events: args.includes('--json') ? command.events : [] }
  }

  test('actions of the application follow, with their rules', async () => {
    const { events } = await run('task', '--as', ann, '--json')
    assert.deepEqual(events.slice(-3), [
      { model: 'task', action: 'close', on: 'record', rule: 'function', allowed: { by: 1 } },
      { model: 'task', action: 'reset', on: 'model', rule: 'role "admin"', allowed: false },
      { model: 'task', action: 'hidden', on: 'model', rule: 'not declared', allowed: false },
    ])
    const { stdout } = await run('--as', ann)
    assert.match(stdout, /\n {2}service\n\n {4}ping +allowed +action · true\n/)
  })

  test('each action has its condition, its SQL and its rule', async () => {
    const { code, events } = await run('pet', '--as', ann, '--json')
    assert.equal(code, 0)
    const lost = { or: [{ lost: true }, { owner: 1 }] }
    assert.deepEqual(events.slice(0, 6), [
      {
        model: 'pet',
        action: 'read',
        rule: 'function',
        allowed: lost,
        sql: '"lost" = ? or "owner" = ?',
        values: [1, 1],
      },
      { model: 'pet', action: 'create', rule: 'not declared', allowed: false },
      {
        model: 'pet',
        action: 'update',
        rule: 'function',
        allowed: { owner: { name: { '!=': 'Bob' } } },
        sql: '("lost" = ? or "owner" = ?) and ("owner" in (select "id" from "person" where "name" <> ?))',
        values: [1, 1, 'Bob'],
      },
      { model: 'pet', action: 'destroy', rule: 'false', allowed: false },
      { model: 'pet', action: 'add', rule: 'not declared', allowed: 'members' },
      { model: 'pet', action: 'remove', rule: 'not declared', allowed: 'members' },
    ])
    assert.equal(existsSync(join(cwd, 'data')), false)
  })

  test('the SQL is that of the configured database', async () => {
    const { events } = await run('pet', '--as', ann, '--json', '--database', 'postgres://127.0.0.1:1/none')
    assert.match(String(events[0]?.sql), /^"lost" = \$1(::\w+)? or "owner" = \$2/)
    assert.equal((await run('pet', '--json', '--database', 'memory:')).events[0]?.sql, undefined)
  })

  test('attributes are readable, masked by a condition, or unknown, and writable or not', async () => {
    const { events } = await run('person', '--as', ann, '--json')
    const attributes = events.filter(({ attribute }) => attribute !== undefined)
    assert.deepEqual(
      attributes.slice(1, 5).map(({ attribute, read, write }) => [attribute, read, write]),
      [
        ['name', true, true],
        ['email', { id: 1 }, true],
        ['salary', false, false],
        ['hash', false, false],
      ],
    )
    const { stdout } = await run('person', '--as', '{"id":1,"roles":["hr"]}')
    assert.match(stdout, /\n {4}email +read where \{"id":1\}, else null, written\n/)
    assert.match(stdout, /\n {4}salary +read, written\n/)
    assert.match(stdout, /\n {4}destroy +refused {3}role "admin"\n/)
  })

  test('without a model every model is printed, for an anonymous requester by default', async () => {
    const { code, stderr } = await run()
    assert.equal(code, 1)
    assert.match(stderr, /access\.update of person fails: Cannot read properties of null/)
    const { stdout } = await run('note')
    assert.match(stdout, /\n {2}note {3}anonymous\n[\s\S]*read +allowed +no rules\n/)
    assert.match((await run('note', '--as', '{"expiresAt":"2020-01-01T00:00:00Z"}')).stdout, /note {3}anonymous/)
  })

  for (const [args, message] of [
    [['pte'], /Unknown model "pte"\n\n {2}Did you mean keelson access pet\?/],
    [['pet', 'person'], /Unexpected argument "person" after "access"/],
    [['pet', '--as', '7'], /--as must be a JSON object or null, not 7\n/],
    [['pet', '--as', '{id:7}'], /--as must be a JSON object or null, not \{id:7\}/],
    [['pet', '--as', '{"id":[1]}'], /--as: The id or sub of a user must be a string, a number or a bigint\n/],
    [['pet', '--as', '{"expiresAt":1}'], /--as: expiresAt of a user must be a time in ISO 8601\n/],
    [['--record', '1'], /--record needs a model/],
    [['pet', '--record', 'x'], /The id of pet is an integer, not "x"/],
  ] as const) {
    test(`keelson access ${args.join(' ')} is a wrong command line`, async () => {
      const { code, stderr } = await run(...args)
      assert.match(stderr, message)
      assert.equal(code, 2)
    })
  }

  test('the database of a record must exist', async () => {
    const { code, stderr } = await run('pet', '--record', '1')
    assert.match(stderr, /Database not found/)
    assert.equal(code, 1)
    assert.equal(existsSync(join(cwd, 'data')), false)
  })
})

describe('for one record', () => {
  const cwd = folder({ 'keelson.config.mjs': config })
  const database = `sqlite:${join(cwd, 'app.db')}`
  before(async () => {
    const { default: loaded } = await import(join(cwd, 'keelson.config.mjs'))
    await using service = await createService({ ...loaded, database, landingPage: false })
    const { person, pet } = service.system.records
    await person?.create({ id: 1, name: 'Ann', email: 'ann@example.org' })
    await person?.create({ id: 2, name: 'Bob', email: 'bob@example.org' })
    await pet?.create({ id: 1, owner: 1 })
    await pet?.create({ id: 2, owner: 2, lost: true })
    await pet?.create({ id: 3, owner: 2 })
  })
  const explain = async (model: string, id: number) => {
    const command = new Command(['access', model, '--record', `${id}`, '--as', ann, '--json', '-d', database], { cwd })
    assert.equal((await command.ended).code, 0, command.stderr)
    return command.events
  }

  const cases: readonly (readonly [id: number, refusedBy: Readonly<Record<string, string | undefined>>])[] = [
    [1, { read: undefined, update: undefined, destroy: 'destroy' }],
    [2, { read: undefined, update: 'update', destroy: 'destroy' }],
    [3, { read: 'read', update: 'read', destroy: 'read' }],
  ]
  for (const [id, refusedBy] of cases) {
    test(`pet ${id}: each action is allowed, or has the rule that refuses it`, async () => {
      const found = (await explain('pet', id)).filter(({ action }) => action !== undefined)
      assert.deepEqual(Object.fromEntries(found.map(({ action, refusedBy }) => [action, refusedBy])), refusedBy)
    })
  }

  test('the text names the rule and the masked attributes', async () => {
    const args = ['--as', ann, '-d', database]
    const { stdout } = await Command.run(['access', 'person', '--record', '2', ...args], { cwd })
    assert.match(
      stdout,
      /read +allowed\n {4}update +refused by update: \{"id":1\}\n {4}destroy +refused by destroy: role "admin"\n/,
    )
    assert.match(stdout, /null for this user: email\n/)
    const { code, stderr } = await Command.run(['access', 'pet', '--record', '9', ...args], { cwd })
    assert.match(stderr, /There is no pet with the id 9/)
    assert.equal(code, 1)
  })
})
