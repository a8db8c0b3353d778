import type { ModelDefinition } from 'keelson'

/** Who brings the animals. */
export const owner = {
  attributes: {
    name: { type: 'string', required: true, maxLength: 80 },
    email: { type: 'string', isEmail: true, unique: true },
    phone: { type: 'string', regex: /^\+?[0-9 ]{5,20}$/ },
    city: { type: 'string' },
    newsletter: { type: 'boolean', defaultsTo: false },
    // To-one and to-many, within one model: who sent them to us, and whom they sent.
    referredBy: { model: 'owner' },
    referrals: { collection: 'owner', via: 'referredBy' },
    // One-to-many: the other side of pet.owner.
    pets: { collection: 'pet', via: 'owner' },
  },
} as const satisfies ModelDefinition
