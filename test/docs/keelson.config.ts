import { defineConfig } from 'keelson'

/** The configuration of documentation pages that have none of their own. */
export default defineConfig({
  models: {
    owner: {
      attributes: {
        name: { type: 'string', required: true },
        email: { type: 'string', isEmail: true, unique: true },
        city: { type: 'string' },
        pets: { collection: 'pet', via: 'owner' },
      },
    },
    pet: {
      attributes: {
        name: { type: 'string', required: true, maxLength: 80 },
        kind: { type: 'string', isIn: ['cat', 'dog'], defaultsTo: 'cat' },
        weight: { type: 'number', min: 0 },
        born: { type: 'datetime' },
        owner: { model: 'owner' },
        tags: { collection: 'tag', via: 'pets' },
      },
    },
    tag: { attributes: { label: { type: 'string', unique: true }, pets: { collection: 'pet', via: 'tags' } } },
  },
})
