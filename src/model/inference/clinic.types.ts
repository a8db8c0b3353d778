/*
 * Models of the type tests `*.types.ts`, which are checked by `tsc` and never run.
 */

import type { AttributeDefinitions, ModelDefinitions } from '../definition.ts'
import type { None, Registry } from './attributes-of.ts'
import type { CheckedModels } from './checked-models.ts'
import type { Records } from './records-of.ts'

/** Fails to compile unless both are the same type, not only assignable to each other. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
export type Expect<T extends true> = T

/** The members of both, as one object. */
export type Both<A, B> = { [K in keyof (A & B)]: (A & B)[K] }
export type Times = { createdAt: string; updatedAt: string }

/** Takes models as a configuration does. */
export declare function declare<
  const M extends ModelDefinitions,
  const Shared extends AttributeDefinitions = None,
>(config: { readonly models: M & CheckedModels<M, Shared>; readonly attributes?: Shared }): Registry<M, Shared>

const clinic = declare({
  models: {
    owner: {
      attributes: {
        name: { type: 'string', required: true },
        email: { type: 'string', isEmail: true, unique: true },
        pets: { collection: 'pet', via: 'owner' },
      },
    },
    pet: {
      attributes: {
        name: { type: 'string', required: true, maxLength: 80, custom: (value) => value !== 'No' },
        kind: { type: 'string', isIn: ['cat', 'dog'], defaultsTo: 'cat' },
        weight: { type: 'number' },
        isWild: { type: 'boolean', defaultsTo: false },
        chip: { type: 'string', required: true, allowNull: true },
        seenAt: { type: 'datetime', defaultsTo: () => '2026-01-01' },
        secret: { type: 'string', hidden: true },
        steps: { type: 'bigint' },
        notes: { type: 'json' },
        owner: { model: 'owner' },
        doctor: { model: 'doctor', required: true },
        tags: { collection: 'tag', via: 'pets' },
      },
    },
    doctor: {
      primaryKey: 'code',
      attributes: { code: { type: 'string', required: true }, updatedAt: false },
    },
    tag: {
      attributes: {
        id: { type: 'string', isUUID: true },
        label: { type: 'string' },
        pets: { collection: 'pet', via: 'tags' },
      },
    },
  },
})
export type Clinic = typeof clinic
export declare const records: Records<Clinic>
