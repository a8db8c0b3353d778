import type { ModelDefinition } from 'keelson'

export const specialty = {
  attributes: {
    name: { type: 'string', required: true, unique: true },
    vets: { collection: 'vet', via: 'specialty', through: 'certification' },
  },
} as const satisfies ModelDefinition
