import type { ModelDefinition } from 'keelson'
import { type Context, concernedPets, either } from '../access.ts'

export const pet = {
  access: {
    // Everyone sees a lost pet.
    read: (context: Context) => either(concernedPets(context), { lost: true }),
    create: concernedPets,
    update: concernedPets,
  },
  attributes: {
    name: { type: 'string', required: true, maxLength: 80, index: true },
    sex: { type: 'string', isIn: ['female', 'male'] },
    bornAt: { type: 'datetime' },
    weight: { type: 'number', min: 0, max: 1500 },
    chip: { type: 'string', unique: true, regex: /^[0-9]{15}$/ },
    neutered: { type: 'boolean', defaultsTo: false },
    lost: { type: 'boolean', defaultsTo: false },
    // To-one, optional.
    owner: { model: 'owner' },
    // To-one, required, to a model with a string key.
    species: { model: 'species', required: true },
    // Within one model.
    mother: { model: 'pet' },
    puppies: { collection: 'pet', via: 'mother' },
    visits: { collection: 'visit', via: 'pet' },
    // Many-to-many: both sides name each other; the junction table needs no model.
    tags: { collection: 'tag', via: 'pets' },
  },
} as const satisfies ModelDefinition
