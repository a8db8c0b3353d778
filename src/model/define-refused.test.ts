import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { ConfigError } from './config-error.ts'
import { defineModels } from './define.ts'
import type { AttributeDefinitions, ModelDefinitions } from './definition.ts'

/** Input of a program without TypeScript. */
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

describe('a definition is refused', () => {
  const attributeProblems: readonly (readonly [definition: unknown, problem: string])[] = [
    [null, 'the definition of an attribute must be an object'],
    [[], 'the definition of an attribute must be an object'],
    ['string', "the definition of an attribute must be an object, such as { type: 'string' }"],
    [String, "the definition of an attribute must be an object: { type: 'string' }"],
    [{ type: Date }, "types are named by texts: write type: 'datetime'"],
    [() => {}, 'functions are not run. Instead, functions of the application call the records of the service'],
    [{ type: 'strng' }, 'there is no type "strng"; did you mean "string"?'],
    [{ type: 'money' }, 'there is no type "money"'],
    [{}, 'it needs a `type`, a `model` or a `collection`'],
    [{ type: 'string', requird: true }, '`requird` is not an option of an attribute; did you mean `required`?'],
    [{ type: 'string', secret: true }, '`secret` is not an option of an attribute'],
    [
      { type: 'string', encrypt: true },
      '`encrypt` is not an option of an attribute: the texts that Sails has encrypted would be served as they are stored. Store them decrypted, by `.decrypt()` in Sails, and leave the option out',
    ],
    [JSON.parse('{"type":"string","__proto__":1}'), '`__proto__` is not an option of an attribute'],
    [{ type: 'string', toString: 1 }, '`toString` is not an option of an attribute'],
    [{ type: 'string', enum: ['a'] }, '`enum` is not an option of an attribute; did you mean `isIn`?'],
    [{ type: 'string', isemail: true }, '`isemail` is not an option of an attribute; did you mean `isEmail`?'],
    [{ type: 'Integer' }, 'there is no type "Integer"; use type "number" with `isInteger`'],
    [{ type: 5 }, '`type` must be a string'],
    [{ type: 'string', required: 'yes' }, '`required` must be true or false'],
    [{ type: 'string', isIn: 'a' }, '`isIn` must be a list'],
    [{ type: 'number', min: '1' }, '`min` must be a number'],
    [{ type: 'number', max: Number.NaN }, '`max` must be a number'],
    [{ type: 'string', regex: 'a' }, '`regex` must be a regular expression'],
    [{ type: 'string', custom: true }, '`custom` must be a function'],
    [{ type: 'json', schema: {} }, '`schema` must be a Standard Schema (zod, valibot, arktype)'],
    [{ type: 'string', columnName: '' }, '`columnName` must be a string'],
    [
      { collection: 'pet', through: { tableName: 'a', from: 'b' } },
      '`through` must be the name of a model, or { tableName, from, to }',
    ],
    [{ type: 'string', min: 1 }, '`min` cannot be used with a string'],
    [{ type: 'string', isIn: [] }, '`isIn` must not be empty'],
    [{ type: 'string', schema: z.string() }, '`schema` cannot be used with a string: it is for JSON'],
    [{ type: 'json', unique: true }, '`unique` cannot be used with JSON'],
    [
      { type: 'string', required: true, defaultsTo: 'x' },
      '`required` cannot be used with `defaultsTo`: a required attribute is always given',
    ],
    [
      { type: 'string', allowNull: false },
      '`allowNull: false` needs `required` or `defaultsTo`: an omitted value would be stored as null',
    ],
    [
      { model: 'pet', allowNull: false },
      '`allowNull: false` needs `required` or `defaultsTo`: an omitted value would be stored as null',
    ],
    [{ type: 'number', defaultsTo: 'abc' }, "`defaultsTo` 'abc' is not a number"],
    [{ type: 'number', max: 1, defaultsTo: 2 }, '`defaultsTo` 2 must be at most 1'],
    [{ type: 'string', isIn: ['a'], defaultsTo: 'b' }, '`defaultsTo` \'b\' must be one of "a"'],
    [{ type: 'string', defaultsTo: null }, '`defaultsTo: null` has no effect: an omitted attribute is null'],
    [{ type: 'string', defaultsTo: async () => 'x' }, '`defaultsTo` must be synchronous'],
    [
      { type: 'json', defaultsTo: {}, schema: z.object({ n: z.number() }) },
      '`defaultsTo` is not valid at n: Invalid input: expected number, received undefined',
    ],
    [
      { type: 'json', defaultsTo: {}, schema: answersLater(() => ({ value: {} })) },
      '`defaultsTo` must be a function if the `schema` is asynchronous',
    ],
    [
      { type: 'json', defaultsTo: {}, schema: z.any().transform(() => null) },
      '`schema` transforms `defaultsTo` to null',
    ],
    [
      { type: 'json', defaultsTo: {}, schema: z.any().transform(() => new Date()) },
      '`schema` fails for `defaultsTo`: the output of `schema` is not JSON',
    ],
    [{ type: 'number', autoIncrement: true }, '`autoIncrement` is only supported for the primary key'],
    [{ autoCreatedAt: true, autoUpdatedAt: true }, '`autoCreatedAt` and `autoUpdatedAt` cannot be used together'],
    [{ type: 'json', autoCreatedAt: true }, '`autoCreatedAt` cannot be used with JSON'],
    [{ type: 'boolean', autoUpdatedAt: true }, '`autoUpdatedAt` cannot be used with true or false'],
    [
      { autoCreatedAt: true, required: true },
      '`required` cannot be used with `autoCreatedAt`: the service sets the value',
    ],
    [
      { autoUpdatedAt: true, defaultsTo: 1 },
      '`defaultsTo` cannot be used with `autoUpdatedAt`: the service sets the value',
    ],
    [{ type: 'string', columnName: 'name' }, 'its column "name" is already used by "name"'],
    [{ type: 'string', columnName: 'NAME' }, 'its column "NAME" is already used by "name"'],
    [{ type: 'string', columnName: 'a\0' }, 'column "a\\u0000": contains a character that databases do not support'],
    [
      { type: 'string', columnName: '__proto__' },
      'column "__proto__": is not allowed as the name of a column or table',
    ],
    [{ model: 'pet', collection: 'pet' }, '`model` and `collection` cannot be used together'],
    [{ model: 'pet', type: 'number' }, '`type` cannot be used with `model`'],
    [{ model: 'pet', via: 'x' }, '`via` cannot be used with `model`'],
    [{ model: 'pet', defaultsTo: false }, '`defaultsTo` cannot be used with `model`'],
    [{ model: 'pet', min: 1 }, '`min` cannot be used with `model`'],
    [{ collection: 'pet', type: 'json' }, '`type` cannot be used with `collection`'],
    [{ collection: 'pet', required: true }, '`required` cannot be used with `collection`'],
    [{ collection: 'pet', columnName: 'x' }, '`columnName` cannot be used with `collection`'],
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
    [{ type: 'string', autoIncrement: true }, '`autoIncrement` cannot be used with a string'],
    [{ type: 'boolean' }, 'a primary key cannot be true or false'],
    [{ type: 'json' }, 'a primary key cannot be JSON'],
    [{ type: 'datetime' }, 'a primary key cannot be a date and time in ISO 8601'],
    [{ type: 'ref', columnType: 'blob' }, 'a primary key cannot be base64'],
    [{ type: 'string', allowNull: true }, '`allowNull` cannot be used with a primary key'],
    [
      { type: 'string', autoCreatedAt: true },
      'a primary key cannot be a timestamp: two records may be created at the same time',
    ],
    [{ type: 'string', defaultsTo: 'x' }, '`defaultsTo` of a primary key must be a function: a constant is not unique'],
    [
      { type: 'number', autoIncrement: true, required: true },
      '`required` cannot be used with `autoIncrement`: the database generates the value',
    ],
    [
      { type: 'number', autoIncrement: true, defaultsTo: () => 1 },
      '`defaultsTo` cannot be used with `autoIncrement`: the database generates the value',
    ],
    [{ model: 'pet' }, 'an association cannot be the primary key'],
  ]
  for (const [definition, problem] of keyProblems) {
    test(`a key: ${problem}`, () =>
      assert.deepEqual(problemsOf(untyped({ pet: { attributes: { id: definition } } })), [`pet.id: ${problem}`]))
  }

  const modelProblems: readonly (readonly [title: string, models: object, problem: string])[] = [
    ['no models', {}, 'models: at least one model is required'],
    ['other writers', { pet: { writers: 'me' } }, "pet: `writers` must be 'self' or 'any'"],
    ['not an object', { pet: 5 }, 'pet: the definition of a model must be an object'],
    [
      'access without rules',
      { pet: { access: true } },
      "pet: `access` must be 'public', or an object of rules for `read`, `create`, `update`, `destroy`, `add`, `remove`: true, false, a role, or a function",
    ],
    ...(
      [
        [{ raed: true }, 'there is no `access.raed`; did you mean `access.read`?'],
        [
          { write: true },
          'there is no `access.write`; there are `read`, `create`, `update`, `destroy`, `add`, `remove`',
        ],
        [{ read: ['admin', 'vet'] }, '`access.read` must be true, false, a role, or a function'],
        [{ read: async () => false }, '`access.read` must be synchronous'],
      ] as const
    ).map(([access, problem]) => ['access', { pet: { access } }, `pet: ${problem}`] as const),
    [
      'access of an attribute',
      { pet: { attributes: { name: { type: 'string', access: { raed: true } } } } },
      'pet.name: there is no `access.raed`; did you mean `access.read`?',
    ],
    [
      'asynchronous access to an attribute',
      { pet: { attributes: { name: { type: 'string', access: { write: async () => false } } } } },
      'pet.name: `access.write` must be synchronous',
    ],
    [
      'asynchronous access to an action',
      { pet: { actions: { sell: { on: 'record', access: async () => false, run: () => null } } } },
      'pet.actions.sell: `access` must be synchronous',
    ],
    ...(
      [
        [
          true,
          '`hooks` must be an object with `before` and `within`, each an object of functions for `create`, `update`, `destroy`',
        ],
        [{ after: {} }, 'there is no `hooks.after`; there are `before`, `within`'],
        [{ befor: {} }, 'there is no `hooks.befor`; did you mean `hooks.before`?'],
        [{ before: () => {} }, '`hooks.before` must be an object of functions for `create`, `update`, `destroy`'],
        [{ before: { creat: () => {} } }, 'there is no `hooks.before.creat`; did you mean `hooks.before.create`?'],
        [{ within: { update: 'log' } }, '`hooks.within.update` must be a function'],
      ] as const
    ).map(([hooks, problem]) => ['hooks', { pet: { hooks } }, `pet: ${problem}`] as const),
    [
      'an option of Waterline',
      { pet: { schema: true } },
      "pet: `schema` is not an option of a model; `compatibility: 'sails'` reads models of Sails",
    ],
    [
      'an attribute outside of `attributes`',
      { pet: { nick: { type: 'string' } } },
      'pet: `nick` is not an option of a model; attributes are declared in `attributes`',
    ],
    ['attributes that are a list', { pet: { attributes: [] } }, 'pet: `attributes` must be an object'],
    [
      'a lifecycle callback',
      { pet: { beforeCreate: () => {} } },
      'pet: `beforeCreate` is not an option of a model: functions are not run. Instead, `hooks` run functions before and within the transaction of a write',
    ],
    [
      'another letter case',
      { pet: { tablename: 'pets' } },
      'pet: `tablename` is not an option of a model; did you mean `tableName`?',
    ],
    ['a table without a name', { pet: { tableName: '' } }, 'pet: `tableName` must be a string'],
    [
      'a table with NUL',
      { pet: { tableName: 'a\0' } },
      'pet: table "a\\u0000": contains a character that databases do not support',
    ],
    ['no key', { pet: { attributes: { id: false } } }, 'pet: has no primary key'],
    ['an unknown key', { pet: { primaryKey: 'code' } }, 'pet: the primary key "code" is not one of its attributes'],
    [
      'two marked keys',
      { pet: { attributes: { a: { type: 'string', primaryKey: true }, b: { type: 'string', primaryKey: true } } } },
      'pet: has several primary keys: a, b',
    ],
    [
      'one named and one marked key',
      { pet: { primaryKey: 'a', attributes: { a: { type: 'string' }, b: { type: 'string', primaryKey: true } } } },
      'pet: has several primary keys: a, b',
    ],
    [
      'a name with a hyphen',
      { 'my-pet': {} },
      'my-pet: the name of a model consists of letters, digits and _ and does not start with a digit',
    ],
    ['an inherited name', JSON.parse('{"__proto__": {}}'), '__proto__: is not allowed as the name of a model'],
    ['an inherited name', { constructor: {} }, 'constructor: is not allowed as the name of a model'],
    ['a name in another letter case', { pet: {}, Pet: {} }, 'Pet: differs from the model "pet" in letter case only'],
    [
      'a table of the change log',
      { keelson_log: {} },
      'keelson_log: table "keelson_log": names that begin with keelson_ are reserved',
    ],
    [
      'a table of SQLite',
      { pet: { tableName: 'SQLITE_x' } },
      'pet: table "SQLITE_x": names that begin with SQLITE_ are reserved',
    ],
    ['the same table twice', { pet: {}, dog: { tableName: 'Pet' } }, 'dog: its table "Pet" is already used by "pet"'],
    [
      'an attribute with a dot',
      { pet: { attributes: { 'a.b': { type: 'string' } } } },
      'pet.a.b: the name of an attribute consists of letters, digits and _ and does not start with a digit',
    ],
    [
      'an attribute without a name',
      { pet: { attributes: { '': { type: 'string' } } } },
      'pet.: the name of an attribute consists of letters, digits and _ and does not start with a digit',
    ],
    ...['and', 'or', 'not'].map(
      (word) =>
        [
          'an operator of `where`',
          { pet: { attributes: { [word]: { type: 'string' } } } },
          `pet.${word}: "${word}" is an operator of \`where\``,
        ] as const,
    ),
    ...['__proto__', 'constructor', 'prototype'].map(
      (name) =>
        [
          'an inherited attribute',
          { pet: { attributes: JSON.parse(`{"${name}":{"type":"string"}}`) } },
          `pet.${name}: is not allowed as the name of an attribute`,
        ] as const,
    ),
    [
      'the removal of an unknown attribute',
      { pet: { attributes: { craetedAt: false } } },
      'pet.craetedAt: there is no shared attribute of this name',
    ],
  ]
  for (const [title, models, problem] of modelProblems) {
    test(`a model: ${title}: ${problem}`, () => assert.deepEqual(problemsOf(untyped(models)), [problem]))
  }

  test('each wrong member of `access` and `hooks` is reported', () =>
    assert.deepEqual(
      problemsOf(untyped({ pet: { access: { raed: true, update: 1 }, hooks: { before: { creat: 1 } } } })),
      [
        'pet: there is no `access.raed`; did you mean `access.read`?',
        'pet: `access.update` must be true, false, a role, or a function',
        'pet: there is no `hooks.before.creat`; did you mean `hooks.before.create`?',
      ],
    ))

  test('a problem of a shared attribute is reported once', () => {
    const shared = { note: { type: 'string', requird: true } } as AttributeDefinitions
    assert.deepEqual(problemsOf({ pet: {}, owner: {} }, shared), [
      'attributes.note: `requird` is not an option of an attribute; did you mean `required`?',
    ])
  })

  test('all problems are reported at once, in the order of the definitions', () => {
    const problems = problemsOf(
      untyped({
        pet: { attributes: { name: { type: 'strng' }, owner: { model: 'ownr' } } },
        owner: { access: true, attributes: { age: { type: 'number', minLength: 1, min: 2, max: 1 } } },
      }),
    )
    assert.deepEqual(problems, [
      "owner: `access` must be 'public', or an object of rules for `read`, `create`, `update`, `destroy`, `add`, `remove`: true, false, a role, or a function",
      'pet.name: there is no type "strng"; did you mean "string"?',
      'owner.age: `min` 2 is greater than `max` 1',
      'owner.age: `minLength` cannot be used with a number',
      'pet.owner: there is no model "ownr"; did you mean "owner"?',
    ])
  })

  test('problems that follow from another problem are not reported', () => {
    const problems = problemsOf(
      untyped({
        owner: { acces: 1, attributes: { pets: { collection: 'pet', via: 'owner' } } },
        pet: { attributes: { owner: { model: 'owner', requird: true } } },
      }),
    )
    assert.deepEqual(problems, [
      'owner: `acces` is not an option of a model; did you mean `access`?',
      'pet.owner: `requird` is not an option of an attribute; did you mean `required`?',
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

function answersLater(answer: () => object) {
  return { '~standard': { version: 1, vendor: 'test', validate: async () => answer() } }
}
