/*
 * Types of hooks: the user is what `auth.identify` returns. Values and records are annotated by the application.
 */
import { type CreateInput, createService, type HookDefinitions, type Records, refuse } from '../../src/index.ts'

const models = {
  pet: { attributes: { name: { type: 'string', required: true }, keeper: { type: 'string' } } },
  audit: { attributes: { text: { type: 'string' } } },
} as const
type Models = typeof models
type User = { readonly id: string; readonly role: 'vet' | 'owner' }
declare const users: Readonly<Record<string, User>>

/** Hooks with the types of the models, which are declared before. */
const hooks: HookDefinitions<User> = {
  before: {
    create: async (values: CreateInput<Models, 'pet'>, { user, records }) => {
      const others: Records<Models> = records
      const { data } = await others.pet.find({ where: { keeper: user?.id ?? null } })
      if (data.length > 3) throw refuse(409, 'TOO_MANY', 'No more pets')
      return { ...values, keeper: user?.id }
    },
  },
  within: {
    destroy: async ({ previous, tx }) => {
      await (tx as Records<Models>).audit.create({ text: previous.name })
    },
  },
}

export const service = createService({
  auth: { identify: ({ headers }) => users[String(headers.authorization)] ?? null },
  models: {
    ...models,
    pet: { ...models.pet, hooks },
    cat: {
      attributes: { name: { type: 'string' } },
      hooks: {
        before: {
          update: (values, { user }) => ({ ...values, vet: user?.role === 'vet' }),
          // @ts-expect-error no user has a name
          destroy: ({ user }) => user?.name,
        },
      },
    },
    dog: {
      attributes: { name: { type: 'string' } },
      // @ts-expect-error there is no such write
      hooks: { within: { save: () => {} } },
    },
  },
})
