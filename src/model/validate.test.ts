import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { bare, complaints, context, now, nowMs, pets, plain, run, uuid } from '../../test/support/validation.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { AttributeDefinition, AttributeDefinitions } from './definition.ts'
import { type Purpose, validate } from './validate.ts'

describe('create', () => {
  const model = pets({
    name: { type: 'string', required: true },
    kind: { type: 'string', isIn: ['cat', 'dog'], defaultsTo: 'cat' },
    weight: { type: 'number' },
    good: { type: 'boolean', defaultsTo: false },
    owner: { model: 'owner' },
    owners: { collection: 'owner' },
  })

  test('assigns each attribute except a generated key', async () => {
    assert.deepEqual(await run(model, { name: 'Rex' }), {
      name: 'Rex',
      kind: 'cat',
      weight: null,
      good: false,
      owner: null,
      createdAt: now,
      updatedAt: now,
    })
  })

  test('returns synchronously, in the order of the model', () => {
    const assignments = validate(model, { weight: 1, owner: 1, name: 'Rex', id: 7 }, 'create', context)
    assert.ok(Array.isArray(assignments))
    assert.deepEqual(
      assignments.map(({ attribute }) => attribute),
      [...model.attributes.values()],
    )
  })

  test('converts the texts of a form', async () => {
    const record = await run(model, { name: 'Rex', weight: '12.50', good: '1', owner: '3', id: '7' })
    assert.deepEqual(
      { ...record, createdAt: 0, updatedAt: 0 },
      {
        id: 7,
        name: 'Rex',
        kind: 'cat',
        weight: 12.5,
        good: true,
        owner: 3,
        createdAt: 0,
        updatedAt: 0,
      },
    )
  })

  test('accepts a map', async () => {
    const values: JsonObject = { name: 'Rex', weight: '3' }
    assert.deepEqual(await run(model, new Map(Object.entries(values))), await run(model, values))
  })

  test('treats undefined as omitted', async () => {
    const values = { name: 'Rex', kind: undefined } as unknown as JsonObject
    assert.equal((await run(model, values)).kind, 'cat')
  })

  test('ignores inherited properties', async () => {
    const inherited: AttributeDefinitions = Object.fromEntries([['toString', { type: 'string' }]])
    assert.deepEqual(await run(pets({ ...bare, ...inherited }), {}), { toString: null })
  })

  test('keeps given timestamps', async () => {
    const record = await run(model, { name: 'Rex', createdAt: '2020-01-01', updatedAt: 0 })
    assert.equal(record.createdAt, '2020-01-01T00:00:00.000Z')
    assert.equal(record.updatedAt, '1970-01-01T00:00:00.000Z')
  })

  test('sets equal timestamps in the form of each attribute', async () => {
    let ticks = nowMs
    const ticking = { ...context, clock: { now: () => ticks++ } }
    const stamped = pets({
      createdAt: { type: 'number', autoCreatedAt: true },
      updatedAt: { type: 'string', autoUpdatedAt: true },
      changedAt: { type: 'bigint', autoUpdatedAt: true },
    })
    assert.deepEqual(plain(await validate(stamped, {}, 'create', ticking)), {
      createdAt: nowMs,
      updatedAt: now,
      changedAt: String(nowMs),
    })
  })

  test('generates an omitted UUID key', async () => {
    const keyed = pets({ ...bare, id: { type: 'string', isUUID: true } })
    assert.deepEqual(await run(keyed, {}), { id: uuid })
    assert.deepEqual(await run(keyed, { id: 'AAAAAAAA-0000-7000-8000-000000000000' }), {
      id: 'aaaaaaaa-0000-7000-8000-000000000000',
    })
  })

  test('calls a default function for each record', async () => {
    let count = 0
    const counted = pets({ ...bare, it: { type: 'string', defaultsTo: () => ++count } })
    assert.deepEqual(
      [await run(counted, {}), await run(counted, {}), await run(counted, { it: 'x' })],
      [{ it: '1' }, { it: '2' }, { it: 'x' }],
    )
  })

  test('an invalid result of a default function is an internal error', () => {
    const wrong: readonly (readonly [AttributeDefinition, RegExp])[] = [
      [{ type: 'number', defaultsTo: () => 'x' }, /`defaultsTo` of pet.it must be a number/],
      [{ type: 'number', max: 1, defaultsTo: () => 2 }, /`defaultsTo` of pet.it must be at most 1/],
      [{ type: 'number', defaultsTo: () => null }, /`defaultsTo` of pet.it must not be null/],
      [{ type: 'number', defaultsTo: (() => undefined) as never }, /`defaultsTo` of pet.it must be a number/],
      [
        { type: 'json', defaultsTo: () => ({}), schema: z.array(z.any()) as never },
        /`defaultsTo` of pet.it is not valid: Invalid input: expected array/,
      ],
    ]
    for (const [definition, message] of wrong) {
      assert.throws(
        () => validate(pets({ ...bare, it: definition }), {}, 'create', context),
        (error: Error) => !(error instanceof ServiceError) && message.test(error.message),
      )
    }
  })

  test('asserts that all names are attributes', () => {
    assert.throws(() => validate(model, { name: 'Rex', nmae: 1 }, 'create', context), /Bug in keelson/)
    assert.throws(() => validate(model, new Map([['nmae', 1]]), 'update', context), /Bug in keelson/)
  })
})

describe('update', () => {
  const model = pets({
    name: { type: 'string', required: true },
    kind: { type: 'string', defaultsTo: 'cat' },
    tag: { type: 'string', defaultsTo: () => 'x' },
  })

  const cases: readonly (readonly [title: string, values: JsonObject, assigned: JsonObject])[] = [
    ['moves the time, also for nothing', {}, { updatedAt: now }],
    ['changes what is named and nothing else', { kind: 'dog' }, { kind: 'dog', updatedAt: now }],
    ['keeps a time that was given', { updatedAt: '2020-01-01' }, { updatedAt: '2020-01-01T00:00:00.000Z' }],
    ['does not touch the time of creation', { name: 'Tom' }, { name: 'Tom', updatedAt: now }],
  ]
  for (const [title, values, assigned] of cases) {
    test(title, async () => assert.deepEqual(await run(model, values, 'update'), assigned))
  }

  test('of a model without timestamps may assign nothing', async () => {
    assert.deepEqual(await run(pets({ ...bare, it: { type: 'string' } }), {}, 'update'), {})
  })
})

describe('refused', () => {
  const text: AttributeDefinition = { type: 'string' }
  const required: AttributeDefinition = { type: 'string', required: true }
  const withDefault: AttributeDefinition = { type: 'string', defaultsTo: 'x' }
  const unstorable = 'type: must not contain NUL or an unpaired surrogate'
  const unstorableJson =
    'type: must be JSON, must not contain NUL or an unpaired surrogate, and must not be nested deeper than 1000 levels'
  const cases: readonly (readonly [AttributeDefinition, Purpose, JsonObject, readonly string[]])[] = [
    [required, 'create', {}, ['required: is required']],
    [required, 'create', { it: null }, ['required: must not be empty']],
    [required, 'create', { it: '' }, ['required: must not be empty']],
    [required, 'create', { it: ' ' }, []],
    [required, 'update', {}, []],
    [required, 'update', { it: null }, ['required: must not be empty']],
    [required, 'update', { it: '' }, ['required: must not be empty']],
    [{ type: 'number', required: true }, 'create', { it: '' }, ['required: must not be empty']],
    [{ type: 'number', required: true }, 'create', { it: 0 }, []],
    [{ type: 'boolean', required: true }, 'create', { it: false }, []],
    [{ type: 'json', required: true }, 'create', { it: [] }, []],
    [{ model: 'owner', required: true }, 'create', { it: null }, ['required: must not be empty']],
    [{ type: 'string', required: true, allowNull: true }, 'create', {}, ['required: is required']],
    [{ type: 'string', required: true, allowNull: true }, 'create', { it: null }, []],
    [{ type: 'string', required: true, allowNull: true }, 'update', { it: '' }, ['required: must not be empty']],
    [text, 'create', { it: null }, []],
    [text, 'create', { it: '' }, []],
    [withDefault, 'create', { it: null }, ['allowNull: must not be null']],
    [withDefault, 'update', { it: null }, ['allowNull: must not be null']],
    [withDefault, 'create', { it: '' }, []],
    [{ ...withDefault, allowNull: true }, 'create', { it: null }, []],
    [{ autoUpdatedAt: true }, 'update', { it: null }, ['allowNull: must not be null']],
    [text, 'create', { it: {} }, ['type: must be a string']],
    [text, 'create', { it: 'a\0' }, [unstorable]],
    [text, 'create', { it: '\ud83e' }, [unstorable]],
    [{ type: 'json' }, 'create', { it: ['a\0'] }, [unstorableJson]],
    [{ type: 'json' }, 'create', { it: { at: new Date(0) } as never }, [unstorableJson]],
    [{ type: 'json' }, 'create', { it: { a: undefined } as never }, [unstorableJson]],
    [{ type: 'json' }, 'create', { it: JSON.parse('['.repeat(1001) + ']'.repeat(1001)) }, [unstorableJson]],
    [{ type: 'number' }, 'create', { it: '' }, ['type: must be a number']],
    [{ type: 'number' }, 'update', { it: 'abc' }, ['type: must be a number']],
    [{ type: 'number', isInteger: true }, 'create', { it: 1.5 }, ['type: must be an integer']],
    [{ type: 'boolean' }, 'create', { it: 'yes' }, ['type: must be true or false']],
    [{ type: 'datetime' }, 'create', { it: '2026-02-30' }, ['type: must be a date and time in ISO 8601']],
    [{ type: 'string', isUUID: true }, 'create', { it: 'x' }, ['type: must be a UUID']],
    [{ model: 'owner' }, 'update', { it: { id: 1 } }, ['type: must be an integer']],
    [{ type: 'number', max: 1 }, 'create', { it: 'abc' }, ['type: must be a number']],
    [{ type: 'number', max: 1 }, 'create', { it: '2' }, ['max: must be at most 1']],
    [{ type: 'number', max: 1 }, 'create', { it: null }, []],
    [
      { type: 'string', maxLength: 2, isIn: ['a'] },
      'create',
      { it: 'abc' },
      ['isIn: must be one of "a"', 'maxLength: must have at most 2 characters'],
    ],
    [text, 'create', { it: 'é'.repeat(50) }, []],
    [text, 'create', { it: 'é'.repeat(51) }, ['maxValueBytes: must have at most 100 bytes']],
    [{ type: 'json' }, 'create', { it: ['x'.repeat(96)] }, []],
    [{ type: 'json' }, 'create', { it: ['x'.repeat(97)] }, ['maxValueBytes: must have at most 100 bytes']],
    [
      { type: 'ref', columnType: 'blob' },
      'create',
      { it: 'A'.repeat(104) },
      ['maxValueBytes: must have at most 100 bytes'],
    ],
    [
      { type: 'string', maxLength: 1 },
      'create',
      { it: 'x'.repeat(101) },
      ['maxValueBytes: must have at most 100 bytes'],
    ],
  ]
  for (const [definition, purpose, values, expected] of cases) {
    test(`${purpose} ${JSON.stringify(definition)} with ${JSON.stringify(values).slice(0, 50)}`, async () =>
      assert.deepEqual(await complaints(definition, values, purpose), expected))
  }

  test('an empty key and a null key', async () => {
    const keyed = pets({ ...bare, id: { type: 'string', defaultsTo: () => 'x' } })
    await assert.rejects(run(keyed, { id: '' }), /id must not be empty/)
    await assert.rejects(run(pets(bare), { id: null }), /id must not be null/)
  })

  test('one error contains all violations', () => {
    const model = pets({
      name: { type: 'string', required: true, maxLength: 3 },
      kind: { type: 'string', isIn: ['cat'], minLength: 9 },
      weight: { type: 'number' },
      email: { type: 'string', required: true },
    })
    assert.throws(
      () => validate(model, { name: 'Rexx', kind: 'dog', weight: 'abc' }, 'create', context),
      (error) => {
        assert.ok(error instanceof ServiceError)
        assert.equal(error.code, 'E_INVALID_ATTRIBUTES')
        assert.equal(
          error.message,
          'name must have at most 3 characters; kind must be one of "cat"; kind must have at least 9 characters; ' +
            'weight must be a number; email is required',
        )
        assert.deepEqual(error.details, {
          model: 'pet',
          invalidAttributes: {
            name: [{ rule: 'maxLength', message: 'must have at most 3 characters' }],
            kind: [
              { rule: 'isIn', message: 'must be one of "cat"' },
              { rule: 'minLength', message: 'must have at least 9 characters' },
            ],
            weight: [{ rule: 'type', message: 'must be a number' }],
            email: [{ rule: 'required', message: 'is required' }],
          },
        })
        return true
      },
    )
  })
})
