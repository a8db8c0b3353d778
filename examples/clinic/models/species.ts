import type { ModelDefinition } from 'keelson'

/** A model with a string key. */
export const species = {
  primaryKey: 'code',
  attributes: {
    code: { type: 'string', required: true, regex: /^[a-z]+$/, maxLength: 20 },
    label: { type: 'string', required: true },
    lifespanYears: { type: 'number', isInteger: true, min: 1, max: 150 },
    pets: { collection: 'pet', via: 'species' },
  },
} as const satisfies ModelDefinition
