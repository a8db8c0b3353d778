import type { ModelDefinition } from 'keelson'

/** A label for pets. */
export const tag = {
  attributes: {
    label: { type: 'string', required: true, unique: true, maxLength: 40 },
    color: { type: 'string', isIn: ['green', 'amber', 'red'], defaultsTo: 'green' },
    pets: { collection: 'pet', via: 'tags' },
  },
} as const satisfies ModelDefinition
