/*
 * Types of users in access rules. Nothing here runs: `tsc` checks it.
 */
import {
  type AttributeDefinitions,
  type AuthRequest,
  action,
  createService,
  defineConfig,
  type ModelDefinition,
  type ModelDefinitions,
  type RuleContext,
  type Service,
} from '../../src/index.ts'
import type { Equal, Expect } from '../../src/model/inference/clinic.types.ts'

interface ClinicUser {
  readonly id: number
  readonly role: 'owner' | 'vet'
}
declare const users: Readonly<Record<string, ClinicUser>>
declare const models: ModelDefinitions
declare const attributes: AttributeDefinitions
declare const identify: (request: AuthRequest) => ClinicUser | null
/** Receives what a rule was given. */
declare function seen<T>(value: T): T & boolean

// ---- the user is what `identify` returns, or null -----------------------------------------------------------------

export const inline = defineConfig({
  auth: { identify: ({ headers }) => users[String(headers.authorization)] ?? null },
  access: { read: ({ user }) => seen<Equal<typeof user, ClinicUser | null>>(true), update: 'vet' },
  attributes: {
    tenant: { type: 'string', access: { write: ({ user }) => seen<Equal<typeof user, ClinicUser | null>>(true) } },
  },
  models: {
    owner: {
      access: {
        read: ({ user }) => seen<Equal<typeof user, ClinicUser | null>>(true),
        create: 'vet',
        update: ({ user }) => user !== null && { id: user.id },
      },
      attributes: {
        name: { type: 'string', required: true },
        email: { type: 'string', access: { read: ({ user }) => user?.role === 'vet' || { id: user?.id ?? null } } },
        pets: { collection: 'pet', via: 'owner' },
      },
    },
    pet: { access: 'public', attributes: { owner: { model: 'owner' } } },
  },
})
export const wrong = {
  member: defineConfig({
    auth: { identify: ({ headers }) => users[String(headers.authorization)] ?? null },
    models: {
      pet: {
        // @ts-expect-error a user has no name
        access: { read: ({ user }) => user !== null && { owner: user.name } },
        // @ts-expect-error a user may be null
        attributes: { chip: { type: 'string', access: { read: ({ user }) => ({ owner: user.id }) } } },
      },
    },
  }),
  role: defineConfig({
    auth: { identify },
    models: {
      pet: {
        access: {
          create: 'vet',
          // @ts-expect-error no user has this role
          destroy: 'admin',
        },
        attributes: {
          // @ts-expect-error no user has this role
          chip: { type: 'string', access: { write: 'admin' } },
        },
      },
    },
  }),
}

// ---- where it comes from -------------------------------------------------------------------------------------------

const later = defineConfig({
  models: {
    pet: { access: { read: ({ user }) => seen<Equal<typeof user, ClinicUser | null>>(true) }, attributes: {} },
  },
  auth: { identify },
})
const asynchronous = defineConfig({
  auth: { identify: async ({ cookies }) => (cookies.token === undefined ? null : { id: 1, roles: ['vet', 'owner'] }) },
  models: {
    pet: { access: { read: ({ user }) => user !== null && { owner: user.id }, create: 'vet' }, attributes: {} },
  },
})
const ofToken = defineConfig({
  auth: { jwt: { secret: '', user: ({ sub }) => ({ id: Number(sub), role: 'vet' as const }) } },
  models: {
    pet: {
      access: { read: ({ user }) => user !== null && { owner: user.id.toFixed() }, create: 'vet' },
      attributes: {},
    },
  },
})
const unknown = defineConfig({
  models: { pet: { access: { read: ({ user }) => ({ owner: user.id }), create: 'vet' }, attributes: {} } },
})

// ---- whatever else is in the configuration, of which the compiler knows all types before those of functions ---------------

const authenticated = { identify: ({ headers }: AuthRequest) => users[String(headers.authorization)] ?? null }
export const beside = {
  attributes: createService({
    auth: { identify: ({ headers }) => users[String(headers.authorization)] ?? null },
    attributes: { tenant: { type: 'string' } },
    models: {
      pet: {
        access: { read: ({ user }) => seen<Equal<typeof user, ClinicUser | null>>(true) },
        attributes: {
          chip: { access: { read: ({ user }) => seen<Equal<typeof user, ClinicUser | null>>(true) } },
        },
        hooks: { before: { destroy: ({ user }) => seen<Equal<typeof user, ClinicUser | null>>(true) } },
      },
    },
  }),
  attributesBefore: createService({
    attributes: { tenant: { type: 'string' } },
    auth: { identify: async ({ headers }) => users[String(headers.authorization)] ?? null },
    models: { pet: { access: { read: ({ user }) => seen<Equal<typeof user, ClinicUser | null>>(true) } } },
  }),
  attributesAfter: createService({
    auth: { jwt: { secret: '', user: ({ sub }) => users[String(sub)] ?? null } },
    models: { pet: { access: { read: ({ user }) => seen<Equal<typeof user, ClinicUser | null>>(true) } } },
    attributes: { tenant: { type: 'string' } },
  }),
  actions: createService({
    auth: { identify: ({ headers }) => users[String(headers.authorization)] ?? null },
    attributes: {
      tenant: { type: 'string', access: { read: ({ user }) => seen<Equal<typeof user, ClinicUser | null>>(true) } },
    },
    models: { pet: { access: { read: ({ user }) => seen<Equal<typeof user, ClinicUser | null>>(true) } } },
    actions: { count: action({ on: 'service', run: () => 1 }) },
  }),
  roles: createService({
    auth: authenticated,
    // @ts-expect-error no user has this role
    attributes: { tenant: { type: 'string', access: { write: 'admin' } } },
    models: { pet: { access: { read: 'vet' } } },
  }),
  loose: createService({ auth: authenticated, models, attributes }),
}
export const tooLate = defineConfig({
  models: { pet: { access: { read: ({ user }) => user !== null && { owner: user.id } } } },
  // @ts-expect-error rules before `auth` would be about anything
  auth: { identify: ({ headers }) => users[String(headers.authorization)] ?? null },
})
export const afterItsUse = defineConfig({
  access: { read: ({ user }) => user !== null },
  // @ts-expect-error in the same way
  auth: { identify: ({ headers }) => users[String(headers.authorization)] ?? null },
  models: {},
})

// ---- models of a file of their own ---------------------------------------------------------------------------------

export const pet = {
  access: { read: ({ user }) => user !== null && { owner: user.id }, create: 'vet' },
  attributes: { owner: { type: 'number' } },
} as const satisfies ModelDefinition<ClinicUser>
export const fish = {
  access: {
    // @ts-expect-error a user has no name
    read: ({ user }) => user !== null && { owner: user.name },
    // @ts-expect-error no user has this role
    create: 'admin',
  },
} as const satisfies ModelDefinition<ClinicUser>
export const bird = {
  access: { read: ({ user }: RuleContext<{ readonly name: string }>) => user !== null && { owner: user.name } },
} as const satisfies ModelDefinition
export const cat: ModelDefinition<ClinicUser> = pet
export const separate = defineConfig({ auth: { identify }, models: { pet, cat } })
// @ts-expect-error the rule is about another user
export const other = defineConfig({ auth: { identify }, models: { bird } })

// ---- acting on behalf of a user ------------------------------------------------------------------------------------

export async function services() {
  const service = await createService(inline)
  const direct = await createService({ auth: { identify }, models: { pet } })
  const loose = await createService(unknown)
  service.as({ id: 1, role: 'vet' })
  direct.as(null)
  loose.as({ whatever: 1 })
  // @ts-expect-error there is no such role
  service.as({ id: 1, role: 'admin' })
  // @ts-expect-error a user has a role
  direct.as({ id: 1 })
  // @ts-expect-error a user is an object
  loose.as('Ann')
  return {
    service,
    direct,
    asynchronous: await createService(asynchronous),
    ofToken: await createService(ofToken),
    later,
  }
}
type Made = Awaited<ReturnType<typeof services>>
type UserOf<S> = S extends { as(user: infer U): unknown } ? U : never

export type Checks = [
  Expect<Equal<UserOf<Made['service']>, ClinicUser | null>>,
  Expect<Equal<UserOf<Made['direct']>, ClinicUser | null>>,
  Expect<Equal<UserOf<Made['asynchronous']>, { id: number; roles: string[] } | null>>,
  Expect<Equal<UserOf<Made['ofToken']>, { id: number; role: 'vet' } | null>>,
  Expect<Equal<UserOf<Service>, Readonly<Record<string, unknown>> | null>>,
]
