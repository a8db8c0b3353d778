import type { JsonObject } from '../../../src/protocol/json.ts'

/** A record holds what was given and nothing of the clock, so that it can be compared whole. */
export const models = {
  owner: { attributes: { mark: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: {
    attributes: {
      mark: { type: 'string' },
      weight: { type: 'number', isInteger: true, defaultsTo: 0 },
      owner: { model: 'owner' },
      tags: { collection: 'tag', via: 'pets' },
    },
  },
  tag: { attributes: { mark: { type: 'string' }, pets: { collection: 'pet', via: 'tags' } } },
} as const

export const settings = {
  attributes: { createdAt: false, updatedAt: false },
  limits: { maxLimit: 100_000, maxPopulated: 100_000_000, stopTimeoutMs: 2_000 },
} as const

export type ModelName = keyof typeof models
export const modelNames = Object.keys(models) as readonly ModelName[]

/** The to-many association that is followed of each model, and the model of its members. */
export const memberships = {
  owner: { attribute: 'pets', target: 'pet' },
  pet: { attribute: 'tags', target: 'tag' },
  tag: { attribute: 'pets', target: 'pet' },
} as const satisfies Record<ModelName, { attribute: string; target: ModelName }>

/** The table of pairs of pets and tags, and its columns. */
export const pairs = { table: 'pet_tags__tag_pets', pet: 'pet_tags', tag: 'tag_pets' } as const

/** The first record of each model marks moments, and is not written otherwise. */
export const fenceId = 1
/** It is heavy enough for every listener with a condition. */
export const heavy = 50

export type Rows = ReadonlyMap<number, JsonObject>
export type Members = ReadonlyMap<number, ReadonlySet<number>>

/** Everything the tables hold at one moment. */
export type Truth = Readonly<Record<ModelName, { readonly rows: Rows; readonly members: Members }>>

export const byId = (rows: readonly JsonObject[]): Map<number, JsonObject> =>
  new Map(rows.map((row) => [row.id as number, row]))
