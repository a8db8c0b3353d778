import type { ModelDefinition } from 'keelson'

export const treatment = {
  attributes: {
    name: { type: 'string', required: true, unique: true },
    kind: { type: 'string', required: true, isIn: ['surgery', 'vaccine', 'medicine', 'examination'] },
    price: { type: 'number', required: true, min: 0 },
    visits: { collection: 'visit', via: 'treatment', through: 'prescription' },
  },
} as const satisfies ModelDefinition
