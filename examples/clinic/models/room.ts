import type { ModelDefinition } from 'keelson'

export const room = {
  attributes: {
    name: { type: 'string', required: true, unique: true },
    floor: { type: 'number', isInteger: true, min: -1, max: 3, defaultsTo: 0 },
    // Many-to-many from one side: `treatment` has no attribute for it.
    equippedFor: { collection: 'treatment' },
    visits: { collection: 'visit', via: 'room' },
  },
} as const satisfies ModelDefinition
