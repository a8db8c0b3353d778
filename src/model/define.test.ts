import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { defineModels } from './define.ts'
import type { AttributeDefinition, AttributeDefinitions, ModelDefinitions } from './definition.ts'
import { type Attribute, type Model, selfWrittenTables } from './model.ts'

/** Input of a program without TypeScript. */
const untyped = (definitions: object): ModelDefinitions => definitions as ModelDefinitions

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
  test('has the shared attributes, the key first and the timestamps last', () => {
    const pet = modelOf({ attributes: { name: { type: 'string' } } })
    assert.deepEqual([...pet.attributes.keys()], ['id', 'name', 'createdAt', 'updatedAt'])
    assert.deepEqual(pet.key, [pet.attributes.get('id')])
    assert.equal(pet.primaryKey, pet.attributes.get('id'))
    assert.equal(pet.isJunction, false)
    assert.equal(pet.primaryKey.autoIncrement, true)
    assert.equal(pet.primaryKey.type.name, 'integer')
  })

  test('has one writer if it says so, or if all do; a junction, if both of its models have', () => {
    const likes = { collection: 'pet', via: 'fans' } as const
    const fans = { collection: 'owner', via: 'likes' } as const
    const tables = (owner: object, pet: object, byDefault?: 'self' | 'any') => {
      const models = { owner: { attributes: { likes }, ...owner }, pet: { attributes: { fans }, ...pet } }
      return [...selfWrittenTables(defineModels(untyped(models)), byDefault)].map((table) => table.split('_')[0])
    }
    assert.deepEqual(tables({}, {}), [])
    assert.deepEqual(tables({ writers: 'self' }, {}), ['owner'])
    assert.deepEqual(tables({ writers: 'self' }, { writers: 'self' }).length, 3)
    assert.deepEqual(tables({}, { writers: 'any' }, 'self'), ['owner'])
    assert.deepEqual(tables({}, {}, 'self').length, 3)
  })

  test('uses its name as table and the names of its attributes as columns unless declared otherwise', () => {
    const plain = modelOf({ attributes: { name: { type: 'string' } } })
    assert.equal(plain.table, 'pet')
    assert.equal(plain.attributes.get('name')?.column, 'name')
    const named = modelOf({ tableName: 'All Pets', attributes: { name: { type: 'string', columnName: 'pet-name' } } })
    assert.equal(named.table, 'All Pets')
    assert.equal(named.attributes.get('name')?.column, 'pet-name')
  })

  test('keeps the order of the definitions', () => {
    assert.deepEqual([...defineModels({ b: {}, a: {}, c: {} }).keys()], ['b', 'a', 'c'])
  })

  test('may remove and replace shared attributes', () => {
    const pet = modelOf({ attributes: { createdAt: false, updatedAt: { type: 'number', autoUpdatedAt: true } } })
    assert.deepEqual([...pet.attributes.keys()], ['id', 'updatedAt'])
    assert.equal(pet.attributes.get('updatedAt')?.type.name, 'integer')
  })

  test('has the shared attributes of the configuration, which override the built-in ones', () => {
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
      'besides an id of the model',
      { primaryKey: 'code', attributes: { id: { type: 'number' }, code: { type: 'string' } } },
      {},
      ['id', 'code'],
    ],
    ['shared', {}, { code: { type: 'string', primaryKey: true } }, ['code']],
    [
      'of the model besides a shared one',
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
    test(`of ${JSON.stringify(definition).slice(0, 60)} is kept in canonical form`, () =>
      assert.deepEqual(attributeOf(definition).defaultsTo, value))
  }

  test('that is a function is kept', () => {
    const now = () => 'x'
    assert.equal(attributeOf({ type: 'string', defaultsTo: now }).defaultsTo, now)
  })
})

test('an undefined option counts as absent', () => {
  const it = { type: 'string', required: undefined, model: undefined } as unknown as AttributeDefinition
  assert.equal(attributeOf(it).required, false)
})

test('attributes may have the names of inherited properties', () => {
  const pet = modelOf({ attributes: { toString: { type: 'string' }, hasOwnProperty: { type: 'number' } } })
  assert.equal(pet.attributes.get('toString')?.type.name, 'text')
})
