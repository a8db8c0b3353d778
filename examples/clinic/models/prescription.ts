import type { ModelDefinition } from 'keelson'

/** Between a visit and a treatment: what was given, how much of it, and for how long. */
export const prescription = {
  attributes: {
    visit: { model: 'visit', required: true },
    treatment: { model: 'treatment', required: true },
    dose: { type: 'number', required: true, min: 0 },
    unit: { type: 'string', required: true, isIn: ['mg', 'ml', 'piece'] },
    days: { type: 'number', isInteger: true, min: 1, max: 365, defaultsTo: 1 },
  },
} as const satisfies ModelDefinition
