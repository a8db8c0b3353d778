import type { ModelDefinition } from 'keelson'

export const room = {
  attributes: {
    name: { type: 'string', required: true, unique: true },
    floor: { type: 'number', isInteger: true, min: -1, max: 3, defaultsTo: 0 },
    // One-sided: a room knows for which treatments it is fit, and a treatment does not know its rooms.
    equippedFor: { collection: 'treatment' },
    visits: { collection: 'visit', via: 'room' },
  },
} as const satisfies ModelDefinition
