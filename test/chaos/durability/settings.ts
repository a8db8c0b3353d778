import { defineConfig } from '../../../src/index.ts'

/** Every record belongs to one writer, which marks it with a text that is never used again. */
export const settings = defineConfig({
  models: {
    owner: {
      attributes: { mark: { type: 'string', required: true, unique: true }, pets: { collection: 'pet', via: 'owner' } },
    },
    pet: {
      attributes: {
        mark: { type: 'string', required: true, unique: true },
        counted: { type: 'number', isInteger: true, defaultsTo: 0 },
        owner: { model: 'owner' },
        tags: { collection: 'tag', via: 'pets' },
      },
    },
    tag: { attributes: { label: { type: 'string', required: true }, pets: { collection: 'pet', via: 'tags' } } },
  },
  limits: { maxLimit: 100_000, maxPopulated: 10_000_000 },
})

/** The tags that every pet of this test begins with: a pet and its pairs are one operation. */
export const tagIds = [1, 2, 3]
