import type { ModelDefinition } from 'keelson'
import { type Context, concernedOwners, either, isStaff } from '../access.ts'

/** The owner of pets. */
export const owner = {
  access: {
    // Everyone sees the owner of a lost pet, to call when it is found.
    read: (context: Context) => either(concernedOwners(context), { pets: { lost: true } }),
    update: ({ user }: Context) => user?.role === 'admin' || (user?.role === 'owner' && { id: user.id }),
  },
  attributes: {
    name: { type: 'string', required: true, maxLength: 80 },
    email: {
      type: 'string',
      isEmail: true,
      unique: true,
      // Null in the records of other owners, and unknown to anonymous requests.
      access: { read: (context: Context) => isStaff(context) || (context.user !== null && { id: context.user.id }) },
    },
    phone: { type: 'string', regex: /^\+?[0-9 ]{5,20}$/ },
    city: { type: 'string' },
    newsletter: { type: 'boolean', defaultsTo: false },
    // To-one and to-many within one model.
    referredBy: { model: 'owner' },
    referrals: { collection: 'owner', via: 'referredBy' },
    // One-to-many: the other side of pet.owner.
    pets: { collection: 'pet', via: 'owner' },
  },
} as const satisfies ModelDefinition
