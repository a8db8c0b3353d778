import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineModels } from './define.ts'
import { describe } from './describe.ts'

test('models are described as plain JSON', () => {
  const description = describe(
    defineModels({
      owner: {
        tableName: 'people',
        attributes: {
          createdAt: false,
          updatedAt: false,
          name: { type: 'string', required: true, maxLength: 80, columnName: 'full_name', columnType: 'varchar(80)' },
          kind: { type: 'string', isIn: ['a', 'b'], defaultsTo: 'a' },
          code: { type: 'string', defaultsTo: () => 'x', unique: true, custom: () => true },
          pets: { collection: 'pet', via: 'owner' },
          likes: { collection: 'pet' },
        },
      },
      pet: { attributes: { id: { type: 'string', isUUID: true }, updatedAt: false, owner: { model: 'owner' } } },
    }),
  )
  const common = { required: false, nullable: false, unique: false, automatic: false, rules: {} }
  assert.deepEqual(description, {
    models: [
      {
        name: 'owner',
        table: 'people',
        primaryKey: 'id',
        attributes: [
          { ...common, name: 'id', column: 'id', type: 'integer', automatic: true },
          {
            ...common,
            name: 'name',
            column: 'full_name',
            type: 'text',
            columnType: 'varchar(80)',
            required: true,
            rules: { maxLength: 80 },
          },
          {
            ...common,
            name: 'kind',
            column: 'kind',
            type: 'text',
            automatic: true,
            defaultsTo: 'a',
            rules: { isIn: ['a', 'b'] },
          },
          {
            ...common,
            name: 'code',
            column: 'code',
            type: 'text',
            unique: true,
            automatic: true,
            rules: { custom: true },
          },
        ],
        associations: [
          { name: 'pets', kind: 'hasMany', target: 'pet', via: 'owner' },
          { name: 'likes', kind: 'manyToMany', target: 'pet', through: 'owner_likes__pet_likes_pet' },
        ],
        indexes: [],
      },
      {
        name: 'pet',
        table: 'pet',
        primaryKey: 'id',
        attributes: [
          { ...common, name: 'id', column: 'id', type: 'uuid', automatic: true },
          { ...common, name: 'owner', column: 'owner', type: 'integer', nullable: true, references: 'owner' },
          { ...common, name: 'createdAt', column: 'createdAt', type: 'datetime', automatic: true },
        ],
        associations: [{ name: 'owner', kind: 'belongsTo', target: 'owner' }],
        indexes: [],
      },
    ],
  })
  assert.deepEqual(JSON.parse(JSON.stringify(description)), description)
})
