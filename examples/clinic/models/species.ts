import type { ModelDefinition } from 'keelson'

/** A key that is a word, because the records are few and everybody knows them by it. */
export const species = {
  primaryKey: 'code',
  attributes: {
    code: { type: 'string', required: true, regex: /^[a-z]+$/, maxLength: 20 },
    label: { type: 'string', required: true },
    lifespanYears: { type: 'number', isInteger: true, min: 1, max: 150 },
    pets: { collection: 'pet', via: 'species' },
  },
} as const satisfies ModelDefinition
