import type { ModelDefinition } from 'keelson'
import { findings } from '../findings.ts'

/** A key that nobody can guess or count, because it goes into e-mails. */
export const visit = {
  attributes: {
    id: { type: 'string', isUUID: true },
    pet: { model: 'pet', required: true },
    vet: { model: 'vet' },
    room: { model: 'room' },
    startsAt: { type: 'datetime', required: true },
    status: { type: 'string', isIn: ['booked', 'done', 'missed'], defaultsTo: 'booked' },
    reason: { type: 'string', required: true, minLength: 3, maxLength: 200 },
    // JSON of a shape that a schema checks.
    findings: { type: 'json', schema: findings },
    treatments: { collection: 'treatment', via: 'visit', through: 'prescription' },
  },
} as const satisfies ModelDefinition
