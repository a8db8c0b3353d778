import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigError } from './config-error.ts'
import { defineModels } from './define.ts'
import type { AttributeDefinitions, IndexDefinition, ModelDefinitions } from './definition.ts'
import { describe as describeModels } from './describe.ts'

const attributes: AttributeDefinitions = {
  kind: { type: 'string' },
  size: { type: 'number' },
  data: { type: 'json' },
  owner: { model: 'owner' },
  tags: { collection: 'owner' },
  label: { type: 'string', computed: ['kind'], get: ({ kind }) => kind },
}

const define = (indexes: unknown, more: AttributeDefinitions = {}) =>
  defineModels({
    pet: { attributes: { ...attributes, ...more }, indexes: indexes as readonly IndexDefinition[] },
    owner: {},
  } satisfies ModelDefinitions)

/** The indexes of `pet`, as they are described. */
function indexesOf(indexes: unknown, more?: AttributeDefinitions): unknown {
  const { models } = describeModels(define(indexes, more)) as { models: { name: string; indexes: unknown }[] }
  return models.find(({ name }) => name === 'pet')?.indexes
}

describe('indexes of a model', () => {
  const accepted: readonly (readonly [title: string, definition: IndexDefinition, described: object])[] = [
    ['one attribute', ['kind'], { attributes: ['kind'], unique: false }],
    ['directions', ['kind desc', 'createdAt ASC'], { attributes: ['kind DESC', 'createdAt'], unique: false }],
    ['a to-one association', ['owner', 'id'], { attributes: ['owner', 'id'], unique: false }],
    ['unique', { attributes: ['kind', 'owner'], unique: true }, { attributes: ['kind', 'owner'], unique: true }],
    [
      'partial, with values in canonical form',
      { attributes: ['kind'], where: { size: '3', owner: { '!=': null }, kind: null } },
      { attributes: ['kind'], unique: false, where: { size: 3, owner: { '!=': null }, kind: null } },
    ],
  ]
  for (const [title, definition, described] of accepted) {
    test(title, () => assert.deepEqual(indexesOf([definition]), [described]))
  }

  const refused: readonly (readonly [definitions: unknown, problem: string])[] = [
    [['kind'], 'pet: `indexes` must be a list of indexes, each a list of attributes or { attributes, unique, where }'],
    [
      [{ attributes: ['kind'], uniqe: true }],
      'pet: `indexes` must be a list of indexes, each a list of attributes or { attributes, unique, where }',
    ],
    [[[]], 'pet: indexes[0]: it names no attribute'],
    [[['kind'], ['kimd']], 'pet: indexes[1]: there is no attribute \'kimd\'; did you mean "kind"?'],
    [[['kind', 'kind DESC']], 'pet: indexes[0]: it names an attribute twice'],
    [[['kind'], ['kind ASC']], 'pet: indexes[1]: the same index is declared twice'],
    [[['kind up']], "pet: indexes[0]: 'kind up' is not an attribute with a direction, for example 'createdAt DESC'"],
    [[['tags']], "pet: indexes[0]: 'tags' is a to-many association and has no column"],
    [[['label']], "pet: indexes[0]: 'label' is computed and has no column"],
    [[['data']], "pet: indexes[0]: 'data' cannot be indexed: it is JSON"],
    [
      [{ attributes: ['kind'], where: { kimd: 1 } }],
      'pet: indexes[0]: there is no attribute \'kimd\'; did you mean "kind"?',
    ],
    [
      [{ attributes: ['kind'], where: { size: { '>': 1 } } }],
      'pet: indexes[0]: `where`: "size" can be compared with a number or null, by equality or "!="',
    ],
    [
      [{ attributes: ['kind'], where: { owner: 1 } }],
      'pet: indexes[0]: `where`: "owner" can be compared with null, by equality or "!="',
    ],
  ]
  for (const [definitions, problem] of refused) {
    test(`refused: ${problem}`, () =>
      assert.throws(
        () => define(definitions),
        (error) => error instanceof ConfigError && error.problems.join() === problem,
      ))
  }
})

describe('index: true', () => {
  test('is an index of the model', () => {
    const more: AttributeDefinitions = { kind: { type: 'string', index: true } }
    assert.deepEqual(indexesOf([], more), [{ attributes: ['kind'], unique: false }])
    assert.equal(define([], more).get('pet')?.attributes.get('kind')?.index, true)
  })

  test('adds nothing to a key, a unique attribute or an association, which have an index', () => {
    assert.deepEqual(
      indexesOf([], {
        id: { type: 'number', index: true },
        kind: { type: 'string', unique: true, index: true },
        owner: { model: 'owner', index: true },
      }),
      [],
    )
  })

  test('is refused for JSON', () =>
    assert.throws(() => define([], { data: { type: 'json', index: true } }), {
      problems: ['pet.data: `index` cannot be used with JSON'],
    }))
})
