import type { ModelDefinition } from 'keelson'

export const pet = {
  attributes: {
    name: { type: 'string', required: true, maxLength: 80 },
    sex: { type: 'string', isIn: ['female', 'male'] },
    bornAt: { type: 'datetime' },
    weight: { type: 'number', min: 0, max: 1500 },
    chip: { type: 'string', unique: true, regex: /^[0-9]{15}$/ },
    neutered: { type: 'boolean', defaultsTo: false },
    // To-one. An animal without an owner is a stray.
    owner: { model: 'owner' },
    // To-one, to a model whose key is a text; and one that must be given.
    species: { model: 'species', required: true },
    // Within one model.
    mother: { model: 'pet' },
    puppies: { collection: 'pet', via: 'mother' },
    visits: { collection: 'visit', via: 'pet' },
    // Many-to-many: both sides name each other, and the pairs need no model.
    tags: { collection: 'tag', via: 'pets' },
  },
} as const satisfies ModelDefinition
