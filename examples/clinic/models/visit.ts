import type { ModelDefinition } from 'keelson'
import { type Context, concernedVisits, isStaff } from '../access.ts'
import { findings } from '../findings.ts'

/** A model with a UUID key, which cannot be guessed. */
export const visit = {
  access: {
    read: concernedVisits,
    create: concernedVisits,
    // It must hold before and after: a vet cannot hand a visit over to another vet.
    update: concernedVisits,
    // An owner cancels a visit that has not taken place.
    destroy: ({ user }: Context) =>
      user?.role === 'admin' || (user?.role === 'owner' && { pet: { owner: user.id }, status: 'booked' }),
  },
  attributes: {
    id: { type: 'string', isUUID: true },
    pet: { model: 'pet', required: true },
    vet: { model: 'vet' },
    room: { model: 'room' },
    // An index for the visits of a day.
    startsAt: { type: 'datetime', required: true, index: true },
    status: { type: 'string', isIn: ['booked', 'done', 'missed'], defaultsTo: 'booked', access: { write: isStaff } },
    reason: { type: 'string', required: true, minLength: 3, maxLength: 200 },
    // JSON that is validated by a schema.
    findings: { type: 'json', schema: findings, access: { write: isStaff } },
    treatments: { collection: 'treatment', via: 'visit', through: 'prescription' },
  },
} as const satisfies ModelDefinition
