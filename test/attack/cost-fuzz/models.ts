import type { ModelDefinitions } from '../../../src/index.ts'

/** Without indexes on the plain attributes, so that conditions on them scan. */
export const models = {
  owner: {
    attributes: {
      name: { type: 'string' },
      city: { type: 'string' },
      pets: { collection: 'pet', via: 'owner' },
    },
  },
  pet: {
    attributes: {
      name: { type: 'string' },
      kind: { type: 'string' },
      age: { type: 'number', isInteger: true },
      weight: { type: 'number' },
      note: { type: 'string' },
      born: { type: 'datetime' },
      owner: { model: 'owner' },
      visits: { collection: 'visit', via: 'pet' },
      tags: { collection: 'tag', via: 'pets' },
    },
  },
  visit: {
    attributes: { status: { type: 'string' }, cost: { type: 'number', isInteger: true }, pet: { model: 'pet' } },
  },
  tag: { attributes: { label: { type: 'string' }, pets: { collection: 'pet', via: 'tags' } } },
} as const satisfies ModelDefinitions

export type ModelName = keyof typeof models

/** What a generator needs to know of a model. */
export interface Shape {
  readonly texts: readonly string[]
  readonly numbers: readonly string[]
  /** To-one and to-many associations with their models. */
  readonly one: readonly (readonly [name: string, model: ModelName])[]
  readonly many: readonly (readonly [name: string, model: ModelName])[]
}

export const shapes: Readonly<Record<ModelName, Shape>> = {
  owner: { texts: ['name', 'city'], numbers: ['id'], one: [], many: [['pets', 'pet']] },
  pet: {
    texts: ['name', 'kind', 'note'],
    numbers: ['id', 'age', 'weight'],
    one: [['owner', 'owner']],
    many: [
      ['visits', 'visit'],
      ['tags', 'tag'],
    ],
  },
  visit: { texts: ['status'], numbers: ['id', 'cost'], one: [['pet', 'pet']], many: [] },
  tag: { texts: ['label'], numbers: ['id'], one: [], many: [['pets', 'pet']] },
}
