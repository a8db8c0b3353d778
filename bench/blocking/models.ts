import { defineConfig, type JsonObject } from '../../src/index.ts'

/** The table `wide` has an attribute of three types for each of these. */
export const wideNumbers = Array.from({ length: 20 }, (_, i) => i)

/** Tables without indexes but those of their keys: whatever a client filters or sorts by is a scan. */
export const { models } = defineConfig({
  models: {
    owner: {
      attributes: {
        name: { type: 'string' },
        code: { type: 'string', unique: true },
        city: { type: 'string' },
        note: { type: 'string' },
        pets: { collection: 'pet', via: 'owner' },
      },
    },
    pet: {
      attributes: {
        name: { type: 'string' },
        kind: { type: 'string' },
        note: { type: 'string' },
        age: { type: 'number' },
        owner: { model: 'owner' },
        visits: { collection: 'visit', via: 'pet' },
        title: {
          type: 'string',
          computed: ['name', 'kind'],
          get: ({ name, kind }) => (name === null || kind === null ? null : `${name} (${kind})`),
          sql: ({ name, kind }) => `${name} || ' (' || ${kind} || ')'`,
        },
      },
      actions: {
        rename: {
          on: 'record',
          run: ({ record, tx }) => tx.pet.update(record.id, { name: `${record.name}!`.slice(0, 50) }),
        },
      },
    },
    visit: {
      attributes: {
        status: { type: 'string' },
        note: { type: 'string' },
        cost: { type: 'number' },
        pet: { model: 'pet' },
      },
    },
    /** A page of 1000 is a little smaller than `maxAnswerBytes`. */
    document: {
      attributes: {
        title: { type: 'string' },
        text: { type: 'string' },
        data: { type: 'json' },
        summary: { type: 'string', computed: ['text'], get: ({ text }) => text?.slice(0, 20) ?? null },
      },
    },
    wide: {
      attributes: Object.fromEntries(
        wideNumbers.flatMap((i) => [
          [`n${i}`, { type: 'number' } as const],
          [`t${i}`, { type: 'string' } as const],
          [`d${i}`, { type: 'datetime' } as const],
        ]),
      ),
    },
  },
})

/** The rule of each leads through the models that it refers to; it holds for all rows. */
const isOpen = { or: [{ owner: null }, { owner: { city: { '!=': 'closed' } } }] }
const always = (rule: JsonObject) => ({ read: () => rule, create: () => rule, update: () => rule, destroy: () => rule })
export const ruledModels = {
  ...models,
  pet: { ...models.pet, access: always(isOpen) },
  visit: { ...models.visit, access: always({ pet: isOpen }) },
}

export const rows = { owner: 20_000, pet: 200_000, visit: 300_000, document: 1000, wide: 2000 } as const
/** Owners with many pets: one above `maxAffected`, one below, and some like it that are destroyed. */
export const owners = { huge: 1, large: 2, doomed: [3, 4, 5, 6] } as const
export const petsOf = { huge: 100_000, large: 9_000 } as const
