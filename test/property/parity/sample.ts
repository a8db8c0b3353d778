import { defineModels } from '../../../src/model/define.ts'
import type { Attribute, Model } from '../../../src/model/model.ts'

/** One model with an attribute of every type, computed ones, and every kind of association to itself. */
export const models = defineModels({
  sample: {
    attributes: {
      text: { type: 'string' },
      other: { type: 'string' },
      real: { type: 'number' },
      whole: { type: 'number', isInteger: true },
      big: { type: 'bigint' },
      flag: { type: 'boolean' },
      at: { type: 'datetime' },
      uuid: { type: 'string', isUUID: true },
      json: { type: 'json' },
      bytes: { type: 'ref', columnType: 'bytea' },
      joined: {
        type: 'string',
        computed: ['text', 'other'],
        get: ({ text, other }) => (text === null || other === null ? null : text + other),
        sql: ({ text, other }) => `${text} || ${other}`,
      },
      first: {
        type: 'string',
        computed: ['joined', 'other'],
        get: ({ joined, other }) => joined ?? other,
        sql: ({ joined, other }) => `coalesce(${joined}, ${other})`,
      },
      isTwin: {
        type: 'boolean',
        computed: ['text', 'other'],
        get: ({ text, other }) => (text === null || other === null ? null : text === other),
        sql: ({ text, other }) => `${text} = ${other}`,
      },
      seen: { type: 'datetime', computed: ['at'], get: ({ at }) => at, sql: ({ at }) => `${at}` },
      total: {
        type: 'bigint',
        computed: ['big'],
        get: ({ big }) => big ?? '0',
        sql: { sqlite: ({ big }) => `coalesce(${big}, 0)`, postgres: ({ big }) => `coalesce(${big}, 0::bigint)` },
      },
      parent: { model: 'sample' },
      children: { collection: 'sample', via: 'parent' },
      friends: { collection: 'sample', via: 'friendOf' },
      friendOf: { collection: 'sample', via: 'friends' },
      createdAt: false,
      updatedAt: false,
    },
  },
})

export const sample = models.get('sample') as Model
export const junction = [...models.values()].find(({ isJunction }) => isJunction) as Model

export const attributeOf = (name: string): Attribute => sample.attributes.get(name) as Attribute
