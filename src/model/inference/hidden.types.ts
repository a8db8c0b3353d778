/*
 * A hidden foreign key: written, and neither read nor named in a find; nor is its association.
 */
import type { AssociationsOf } from './associations-of.ts'
import { declare, type Equal, type Expect } from './clinic.types.ts'
import type { CreateInput, RecordOf } from './record-of.ts'
import type { SortName } from './sort-of.ts'
import type { Where } from './where-of.ts'

const models = declare({
  models: {
    owner: { attributes: { createdAt: false, updatedAt: false, pets: { collection: 'pet', via: 'owner' } } },
    pet: { attributes: { createdAt: false, updatedAt: false, owner: { model: 'owner', hidden: true } } },
  },
})
type Pets = typeof models

export type Checks = [
  Expect<Equal<RecordOf<Pets, 'pet'>, { id: number }>>,
  Expect<Equal<'owner' extends keyof CreateInput<Pets, 'pet'> ? true : false, true>>,
  Expect<Equal<keyof AssociationsOf<Pets, 'pet'>, never>>,
  Expect<Equal<keyof AssociationsOf<Pets, 'owner'>, 'pets'>>,
  Expect<Equal<SortName<Pets, 'pet'>, 'id'>>,
  Expect<Equal<keyof Where<Pets, 'pet'>, 'id' | 'and' | 'or' | 'not'>>,
]
