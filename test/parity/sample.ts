import { defineModels } from '../../src/model/define.ts'
import type { Attribute, Model } from '../../src/model/model.ts'

/** One model that holds every type of value and leads to itself in every way. */
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
