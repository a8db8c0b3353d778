import type { ModelDefinition } from 'keelson'

export const vet = {
  attributes: {
    name: { type: 'string', required: true, maxLength: 80 },
    email: { type: 'string', isEmail: true, required: true, unique: true },
    website: { type: 'string', isURL: true },
    hiredAt: { type: 'datetime' },
    visits: { collection: 'visit', via: 'vet' },
    // Many-to-many through a model of our own: a certification says more than that the two belong together.
    specialties: { collection: 'specialty', via: 'vet', through: 'certification' },
  },
} as const satisfies ModelDefinition
