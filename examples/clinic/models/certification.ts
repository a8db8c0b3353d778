import type { ModelDefinition } from 'keelson'

/** The junction of vets and specialties, with attributes of its own. */
export const certification = {
  attributes: {
    vet: { model: 'vet', required: true },
    specialty: { model: 'specialty', required: true },
    level: { type: 'string', isIn: ['resident', 'diplomate'], defaultsTo: 'resident' },
    since: { type: 'datetime', required: true },
  },
} as const satisfies ModelDefinition
