import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { ConfigError } from './config-error.ts'
import { defineModels } from './define.ts'
import type { AttributeDefinition, AttributeDefinitions, ModelDefinitions } from './definition.ts'
import type { Attribute, Model } from './model.ts'

/** What a program that TypeScript never saw may hand in. */
const untyped = (definitions: object): ModelDefinitions => definitions as ModelDefinitions

function problemsOf(definitions: ModelDefinitions, shared?: AttributeDefinitions): readonly string[] {
  try {
    defineModels(definitions, shared)
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return error.problems
  }
  return []
}

function modelOf(definition: object, shared?: AttributeDefinitions): Model {
  const model = defineModels(untyped({ pet: definition }), shared).get('pet')
  assert.ok(model)
  return model
}

function attributeOf(definition: AttributeDefinition): Attribute {
  const attribute = modelOf({ attributes: { it: definition } }).attributes.get('it')
  assert.ok(attribute)
  return attribute
}

describe('a model', () => {
  test('has the shared attributes, the key first and the times last', () => {
    const pet = modelOf({ attributes: { name: { type: 'string' } } })
    assert.deepEqual([...pet.attributes.keys()], ['id', 'name', 'createdAt', 'updatedAt'])
    assert.deepEqual(pet.key, [pet.attributes.get('id')])
    assert.equal(pet.primaryKey, pet.attributes.get('id'))
    assert.equal(pet.isJunction, false)
    assert.equal(pet.primaryKey.autoIncrement, true)
    assert.equal(pet.primaryKey.type.name, 'integer')
  })

  test('has its own name for a table, and its attributes theirs for columns, unless they say otherwise', () => {
    const plain = modelOf({ attributes: { name: { type: 'string' } } })
    assert.equal(plain.table, 'pet')
    assert.equal(plain.attributes.get('name')?.column, 'name')
    const named = modelOf({ tableName: 'All Pets', attributes: { name: { type: 'string', columnName: 'pet-name' } } })
    assert.equal(named.table, 'All Pets')
    assert.equal(named.attributes.get('name')?.column, 'pet-name')
  })

  test('comes in the order of the definitions', () => {
    assert.deepEqual([...defineModels({ b: {}, a: {}, c: {} }).keys()], ['b', 'a', 'c'])
  })

  test('may remove and replace what is shared', () => {
    const pet = modelOf({ attributes: { createdAt: false, updatedAt: { type: 'number', autoUpdatedAt: true } } })
    assert.deepEqual([...pet.attributes.keys()], ['id', 'updatedAt'])
    assert.equal(pet.attributes.get('updatedAt')?.type.name, 'integer')
  })

  test('shares what the configuration says, over our own', () => {
    const pet = modelOf({}, { updatedAt: false, id: { type: 'string', isUUID: true }, note: { type: 'string' } })
    assert.deepEqual([...pet.attributes.keys()], ['id', 'note', 'createdAt'])
    assert.equal(pet.primaryKey.generated, true)
  })
})

describe('the primary key', () => {
  const keys: readonly (readonly [title: string, model: object, shared: AttributeDefinitions, names: string[]])[] = [
    ['named by the model', { primaryKey: 'code', attributes: { code: { type: 'string' } } }, {}, ['code']],
    ['marked', { attributes: { code: { type: 'string', primaryKey: true } } }, {}, ['code']],
    [
      'both',
      { primaryKey: 'code', attributes: { id: false, code: { type: 'string', primaryKey: true } } },
      {},
      ['code'],
    ],
    [
      'beside an id of the model’s own',
      { primaryKey: 'code', attributes: { id: { type: 'number' }, code: { type: 'string' } } },
      {},
      ['id', 'code'],
    ],
    ['shared', {}, { code: { type: 'string', primaryKey: true } }, ['code']],
    [
      'of the model’s own beside a shared one',
      { attributes: { name: { type: 'string', primaryKey: true } } },
      { code: { type: 'string', primaryKey: true } },
      ['name'],
    ],
  ]
  for (const [title, definition, shared, names] of keys) {
    test(title, () => {
      const pet = modelOf(definition, shared)
      assert.deepEqual(
        [...pet.attributes.keys()].filter((name) => !name.endsWith('At')),
        names,
      )
      assert.equal(pet.primaryKey.name, names.at(-1))
      assert.deepEqual(
        [...pet.attributes.values()].filter(({ isPrimaryKey }) => isPrimaryKey),
        [pet.primaryKey],
      )
    })
  }

  type Traits = Pick<Attribute, 'required' | 'generated' | 'autoIncrement' | 'nullable'> & { readonly type: string }
  const given: Traits = { type: 'text', required: true, generated: false, autoIncrement: false, nullable: false }
  const traits: readonly (readonly [AttributeDefinition, Traits])[] = [
    [{ type: 'string' }, given],
    [{ type: 'number' }, { ...given, type: 'integer' }],
    [{ type: 'bigint' }, { ...given, type: 'bigint' }],
    [
      { type: 'number', autoIncrement: true },
      { ...given, type: 'integer', required: false, autoIncrement: true },
    ],
    [
      { type: 'bigint', autoIncrement: true },
      { ...given, type: 'bigint', required: false, autoIncrement: true },
    ],
    [
      { type: 'string', isUUID: true },
      { ...given, type: 'uuid', required: false, generated: true },
    ],
    [
      { type: 'string', isUUID: true, required: true },
      { ...given, type: 'uuid' },
    ],
    [
      { type: 'string', defaultsTo: () => 'x' },
      { ...given, required: false },
    ],
    [
      { type: 'string', isUUID: true, defaultsTo: () => 'x' },
      { ...given, type: 'uuid', required: false },
    ],
    [{ type: 'string', required: false }, given],
  ]
  for (const [definition, expected] of traits) {
    test(`of ${JSON.stringify(definition)}`, () => {
      const key = modelOf({ attributes: { id: definition } }).primaryKey
      const { required, generated, autoIncrement, nullable } = key
      assert.deepEqual({ type: key.type.name, required, generated, autoIncrement, nullable }, expected)
    })
  }
})

describe('null', () => {
  const cases: readonly (readonly [AttributeDefinition, nullable: boolean])[] = [
    [{ type: 'string' }, true],
    [{ type: 'string', allowNull: true }, true],
    [{ type: 'string', required: true }, false],
    [{ type: 'string', required: true, allowNull: true }, true],
    [{ type: 'string', required: true, allowNull: false }, false],
    [{ type: 'string', defaultsTo: 'x' }, false],
    [{ type: 'string', defaultsTo: 'x', allowNull: true }, true],
    [{ type: 'string', defaultsTo: () => 'x', allowNull: false }, false],
    [{ autoCreatedAt: true }, false],
    [{ autoUpdatedAt: true, allowNull: true }, true],
    [{ model: 'pet' }, true],
    [{ model: 'pet', required: true }, false],
    [{ model: 'pet', required: true, allowNull: true }, true],
  ]
  for (const [definition, nullable] of cases) {
    test(`${JSON.stringify(definition)}: ${nullable}`, () => assert.equal(attributeOf(definition).nullable, nullable))
  }
})

describe('a default', () => {
  const cases: readonly (readonly [AttributeDefinition, unknown])[] = [
    [{ type: 'number', defaultsTo: 0 }, 0],
    [{ type: 'boolean', defaultsTo: false }, false],
    [{ type: 'string', defaultsTo: '' }, ''],
    [{ type: 'datetime', defaultsTo: '2026-01-01' }, '2026-01-01T00:00:00.000Z'],
    [{ type: 'json', defaultsTo: { a: [] } }, { a: [] }],
    [{ type: 'json', defaultsTo: { n: '5' }, schema: z.object({ n: z.coerce.number() }) as never }, { n: 5 }],
    [{ type: 'string' }, undefined],
  ]
  for (const [definition, value] of cases) {
    test(`of ${JSON.stringify(definition).slice(0, 60)} is kept as it will be stored`, () =>
      assert.deepEqual(attributeOf(definition).defaultsTo, value))
  }

  test('that is a function stays one', () => {
    const now = () => 'x'
    assert.equal(attributeOf({ type: 'string', defaultsTo: now }).defaultsTo, now)
  })
})

describe('what cannot be', () => {
  const attributeProblems: readonly (readonly [definition: object | null, problem: string])[] = [
    [null, 'the definition of an attribute must be an object'],
    [[], 'the definition of an attribute must be an object'],
    [{ type: 'strng' }, 'there is no type "strng"'],
    [{}, 'it needs a `type`, a `model` or a `collection`'],
    [{ type: 'string', requird: true }, '`requird` means nothing in the definition of an attribute'],
    [{ type: 'string', access: {} }, '`access` means nothing in the definition of an attribute'],
    [JSON.parse('{"type":"string","__proto__":1}'), '`__proto__` means nothing in the definition of an attribute'],
    [{ type: 'string', toString: 1 }, '`toString` means nothing in the definition of an attribute'],
    [{ type: 5 }, '`type` must be a text'],
    [{ type: 'string', required: 'yes' }, '`required` must be true or false'],
    [{ type: 'string', isIn: 'a' }, '`isIn` must be a list'],
    [{ type: 'number', min: '1' }, '`min` must be a number'],
    [{ type: 'number', max: Number.NaN }, '`max` must be a number'],
    [{ type: 'string', regex: 'a' }, '`regex` must be a regular expression'],
    [{ type: 'string', custom: true }, '`custom` must be a function'],
    [{ type: 'json', schema: {} }, '`schema` must be a Standard Schema (zod, valibot, arktype)'],
    [{ type: 'string', columnName: '' }, '`columnName` must be a text'],
    [
      { collection: 'pet', through: { tableName: 'a', from: 'b' } },
      '`through` must be the name of a model, or { tableName, from, to }',
    ],
    [{ type: 'string', min: 1 }, '`min` does not go with a text'],
    [{ type: 'string', isIn: [] }, '`isIn` is empty: no value would be allowed'],
    [{ type: 'string', schema: z.string() }, '`schema` does not go with a text: it is for JSON'],
    [{ type: 'json', unique: true }, '`unique` does not go with JSON'],
    [{ type: 'string', required: true, defaultsTo: 'x' }, '`required` leaves nothing to do for `defaultsTo`'],
    [
      { type: 'string', allowNull: false },
      '`allowNull: false` needs `required` or `defaultsTo`: there is nothing to store when nobody gives a value',
    ],
    [
      { model: 'pet', allowNull: false },
      '`allowNull: false` needs `required` or `defaultsTo`: there is nothing to store when nobody gives a value',
    ],
    [{ type: 'number', defaultsTo: 'abc' }, "`defaultsTo` 'abc' is not a number"],
    [{ type: 'number', max: 1, defaultsTo: 2 }, '`defaultsTo` 2 must be at most 1'],
    [{ type: 'string', isIn: ['a'], defaultsTo: 'b' }, '`defaultsTo` \'b\' must be one of "a"'],
    [{ type: 'string', defaultsTo: null }, '`defaultsTo: null` says nothing: what nobody gives is null already'],
    [{ type: 'string', defaultsTo: async () => 'x' }, '`defaultsTo` must answer at once'],
    [
      { type: 'json', defaultsTo: {}, schema: z.object({ n: z.number() }) },
      '`defaultsTo` is not valid at n: Invalid input: expected number, received undefined',
    ],
    [
      { type: 'json', defaultsTo: {}, schema: answersLater(() => ({ value: {} })) },
      '`defaultsTo` must be a function when the `schema` answers later: it cannot be asked now',
    ],
    [{ type: 'json', defaultsTo: {}, schema: z.any().transform(() => null) }, '`schema` makes null of `defaultsTo`'],
    [
      { type: 'json', defaultsTo: {}, schema: z.any().transform(() => new Date()) },
      '`schema` fails on `defaultsTo`: A `schema` made something that is not JSON',
    ],
    [
      { type: 'number', autoIncrement: true },
      '`autoIncrement` is for the primary key: not every database counts anything else',
    ],
    [{ autoCreatedAt: true, autoUpdatedAt: true }, '`autoCreatedAt` and `autoUpdatedAt` cannot both be'],
    [{ type: 'json', autoCreatedAt: true }, '`autoCreatedAt` does not go with JSON'],
    [{ type: 'boolean', autoUpdatedAt: true }, '`autoUpdatedAt` does not go with true or false'],
    [{ autoCreatedAt: true, required: true }, '`required` does not go with `autoCreatedAt`: we give the value'],
    [{ autoUpdatedAt: true, defaultsTo: 1 }, '`defaultsTo` does not go with `autoUpdatedAt`: we give the value'],
    [{ type: 'string', columnName: 'name' }, 'its column "name" is the column of "name" already'],
    [{ type: 'string', columnName: 'NAME' }, 'its column "NAME" is the column of "name" already'],
    [{ type: 'string', columnName: 'a\0' }, 'column "a\\u0000": it holds a character that no database takes'],
    [{ type: 'string', columnName: '__proto__' }, 'column "__proto__": no column or table can have this name'],
    [{ model: 'pet', collection: 'pet' }, 'it is either a `model` or a `collection`, not both'],
    [{ model: 'pet', type: 'number' }, '`type` does not go with `model`'],
    [{ model: 'pet', via: 'x' }, '`via` does not go with `model`'],
    [{ model: 'pet', defaultsTo: false }, '`defaultsTo` does not go with `model`'],
    [{ model: 'pet', min: 1 }, '`min` does not go with `model`'],
    [{ collection: 'pet', type: 'json' }, '`type` does not go with `collection`'],
    [{ collection: 'pet', required: true }, '`required` does not go with `collection`'],
    [{ collection: 'pet', columnName: 'x' }, '`columnName` does not go with `collection`'],
    [{ type: 'string', via: 'x' }, '`via` needs a `collection`'],
    [{ type: 'string', through: 'x' }, '`through` needs a `collection`'],
  ]
  for (const [definition, problem] of attributeProblems) {
    test(`an attribute: ${problem}`, () => {
      const attributes = { name: { type: 'string' }, it: definition }
      assert.deepEqual(problemsOf(untyped({ pet: { attributes } })), [`pet.it: ${problem}`])
    })
  }

  const keyProblems: readonly (readonly [definition: object, problem: string])[] = [
    [{ type: 'string', autoIncrement: true }, '`autoIncrement` does not go with a text'],
    [{ type: 'boolean' }, 'a primary key cannot be true or false'],
    [{ type: 'json' }, 'a primary key cannot be JSON'],
    [{ type: 'datetime' }, 'a primary key cannot be a date and time in ISO 8601'],
    [{ type: 'ref', columnType: 'blob' }, 'a primary key cannot be base64'],
    [{ type: 'string', allowNull: true }, '`allowNull` does not go with a primary key'],
    [{ type: 'string', autoCreatedAt: true }, 'a primary key cannot be a time: two records may be made at once'],
    [
      { type: 'string', defaultsTo: 'x' },
      '`defaultsTo` of a primary key must be a function: the second record would have the key of the first',
    ],
    [
      { type: 'number', autoIncrement: true, required: true },
      '`required` does not go with `autoIncrement`: the database gives the value',
    ],
    [
      { type: 'number', autoIncrement: true, defaultsTo: () => 1 },
      '`defaultsTo` does not go with `autoIncrement`: the database gives the value',
    ],
    [{ model: 'pet' }, 'an association cannot be the primary key'],
  ]
  for (const [definition, problem] of keyProblems) {
    test(`a key: ${problem}`, () =>
      assert.deepEqual(problemsOf(untyped({ pet: { attributes: { id: definition } } })), [`pet.id: ${problem}`]))
  }

  const modelProblems: readonly (readonly [title: string, models: object, problem: string])[] = [
    ['no models', {}, 'models: there are none'],
    ['not an object', { pet: 5 }, 'pet: the definition of a model must be an object'],
    ['an access rule', { pet: { access: { read: true } } }, 'pet: `access` means nothing in the definition of a model'],
    ['a word of others', { pet: { schema: true } }, 'pet: `schema` means nothing in the definition of a model'],
    ['attributes that are a list', { pet: { attributes: [] } }, 'pet: `attributes` must be an object'],
    ['a table without a name', { pet: { tableName: '' } }, 'pet: `tableName` must be a text'],
    [
      'a table with NUL',
      { pet: { tableName: 'a\0' } },
      'pet: table "a\\u0000": it holds a character that no database takes',
    ],
    ['no key', { pet: { attributes: { id: false } } }, 'pet: has no primary key'],
    [
      'a key that is not there',
      { pet: { primaryKey: 'code' } },
      'pet: the primary key "code" is not one of its attributes',
    ],
    [
      'two keys marked',
      { pet: { attributes: { a: { type: 'string', primaryKey: true }, b: { type: 'string', primaryKey: true } } } },
      'pet: has several primary keys: a, b',
    ],
    [
      'one key named, another marked',
      { pet: { primaryKey: 'a', attributes: { a: { type: 'string' }, b: { type: 'string', primaryKey: true } } } },
      'pet: has several primary keys: a, b',
    ],
    [
      'a name with a hyphen',
      { 'my-pet': {} },
      'my-pet: the name of a model consists of letters, digits and _, and begins with no digit',
    ],
    ['an inherited name', JSON.parse('{"__proto__": {}}'), '__proto__: no model can have this name'],
    ['an inherited name', { constructor: {} }, 'constructor: no model can have this name'],
    ['a name in other case', { pet: {}, Pet: {} }, 'Pet: differs from the model "pet" in letter case only'],
    ['one table twice', { pet: {}, dog: { tableName: 'Pet' } }, 'dog: its table "Pet" is the table of "pet" already'],
    [
      'an attribute with a dot',
      { pet: { attributes: { 'a.b': { type: 'string' } } } },
      'pet.a.b: the name of an attribute consists of letters, digits and _, and begins with no digit',
    ],
    [
      'an attribute without a name',
      { pet: { attributes: { '': { type: 'string' } } } },
      'pet.: the name of an attribute consists of letters, digits and _, and begins with no digit',
    ],
    ...['and', 'or', 'not'].map(
      (word) =>
        [
          'a word of the criteria',
          { pet: { attributes: { [word]: { type: 'string' } } } },
          `pet.${word}: "${word}" is a word of the criteria`,
        ] as const,
    ),
    ...['__proto__', 'constructor', 'prototype'].map(
      (name) =>
        [
          'an inherited attribute',
          { pet: { attributes: JSON.parse(`{"${name}":{"type":"string"}}`) } },
          `pet.${name}: no attribute can have this name`,
        ] as const,
    ),
    [
      'the removal of nothing',
      { pet: { attributes: { craetedAt: false } } },
      'pet.craetedAt: there is no shared attribute of this name to remove',
    ],
  ]
  for (const [title, models, problem] of modelProblems) {
    test(`a model: ${title}: ${problem}`, () => assert.deepEqual(problemsOf(untyped(models)), [problem]))
  }

  test('a shared attribute is reported once, where it stands', () => {
    const shared = { note: { type: 'string', requird: true } } as AttributeDefinitions
    assert.deepEqual(problemsOf({ pet: {}, owner: {} }, shared), [
      'attributes.note: `requird` means nothing in the definition of an attribute',
    ])
  })

  test('everything is reported at once, in the order in which it stands', () => {
    const problems = problemsOf(
      untyped({
        pet: { attributes: { name: { type: 'strng' }, owner: { model: 'ownr' } } },
        owner: { access: true, attributes: { age: { type: 'number', minLength: 1, min: 2, max: 1 } } },
      }),
    )
    assert.deepEqual(problems, [
      'owner: `access` means nothing in the definition of a model',
      'pet.name: there is no type "strng"',
      'owner.age: `min` 2 is larger than `max` 1',
      'owner.age: `minLength` does not go with a number',
      'pet.owner: there is no model "ownr"',
    ])
  })

  test('what follows from a wrong word is not reported as well', () => {
    const problems = problemsOf(
      untyped({
        owner: { acces: 1, attributes: { pets: { collection: 'pet', via: 'owner' } } },
        pet: { attributes: { owner: { model: 'owner', requird: true } } },
      }),
    )
    assert.deepEqual(problems, [
      'owner: `acces` means nothing in the definition of a model',
      'pet.owner: `requird` means nothing in the definition of an attribute',
    ])
  })

  test('the error lists the problems', () => {
    assert.throws(() => defineModels({ pet: { attributes: { owner: { model: 'ownr' } } } }), {
      name: 'ConfigError',
      message: 'The configuration has a problem:\n  - pet.owner: there is no model "ownr"',
    })
    assert.throws(() => defineModels({ pet: { primaryKey: 'a' }, dog: { primaryKey: 'b' } }), {
      message: /^The configuration has 2 problems:\n {2}- pet: .*\n {2}- dog: .*$/,
    })
  })
})

test('a word that is undefined was not said', () => {
  const it = { type: 'string', required: undefined, model: undefined } as unknown as AttributeDefinition
  assert.equal(attributeOf(it).required, false)
})

test('names that objects inherit are no different from others', () => {
  const pet = modelOf({ attributes: { toString: { type: 'string' }, hasOwnProperty: { type: 'number' } } })
  assert.equal(pet.attributes.get('toString')?.type.name, 'text')
})

function answersLater(answer: () => object) {
  return { '~standard': { version: 1, vendor: 'test', validate: async () => answer() } }
}
