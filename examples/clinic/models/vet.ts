import type { ModelDefinition } from 'keelson'
import { isStaff } from '../access.ts'

export const vet = {
  attributes: {
    name: { type: 'string', required: true, maxLength: 80 },
    email: { type: 'string', isEmail: true, required: true, unique: true, access: { read: isStaff } },
    website: { type: 'string', isURL: true },
    hiredAt: { type: 'datetime' },
    visits: { collection: 'visit', via: 'vet' },
    // Many-to-many through a model, because a certification has attributes of its own.
    specialties: { collection: 'specialty', via: 'vet', through: 'certification' },
  },
} as const satisfies ModelDefinition
