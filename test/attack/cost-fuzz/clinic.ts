import type { World } from './world.ts'

const key = (number: number): number => number
const text = "'abc ' || (n % 1000) || ' e e e ' || (n * 7919 % 10007)"

/** Without indexes on the plain attributes, so that conditions on them scan. */
export const clinic: World = {
  models: {
    owner: {
      attributes: {
        name: { type: 'string' },
        city: { type: 'string' },
        pets: { collection: 'pet', via: 'owner' },
      },
    },
    pet: {
      attributes: {
        name: { type: 'string' },
        kind: { type: 'string' },
        age: { type: 'number', isInteger: true },
        weight: { type: 'number' },
        note: { type: 'string' },
        born: { type: 'datetime' },
        owner: { model: 'owner' },
        visits: { collection: 'visit', via: 'pet' },
        tags: { collection: 'tag', via: 'pets' },
      },
    },
    visit: {
      attributes: { status: { type: 'string' }, cost: { type: 'number', isInteger: true }, pet: { model: 'pet' } },
    },
    tag: { attributes: { label: { type: 'string' }, pets: { collection: 'pet', via: 'tags' } } },
  },
  shapes: {
    owner: { key, texts: ['name', 'city'], numbers: ['id'], one: [], many: [['pets', 'pet']] },
    pet: {
      key,
      texts: ['name', 'kind', 'note'],
      numbers: ['id', 'age', 'weight'],
      one: [['owner', 'owner']],
      many: [
        ['visits', 'visit'],
        ['tags', 'tag'],
      ],
    },
    visit: { key, texts: ['status'], numbers: ['id', 'cost'], one: [['pet', 'pet']], many: [] },
    tag: { key, texts: ['label'], numbers: ['id'], one: [], many: [['pets', 'pet']] },
  },
  main: 'pet',
  fill: (rows, numbers) => [
    `insert into owner (id, name, city) select n, 'owner ' || n, 'city ' || (n % 100) from ${numbers(rows / 10)}`,
    `insert into pet (id, name, kind, age, weight, note, owner) select n, 'pet ' || n, 'kind ' || (n % 7), n % 20, n % 37 * 1.5, ${text}, 1 + n % ${rows / 10} from ${numbers(rows)}`,
    `insert into visit (id, status, cost, pet) select n, 'status ' || (n % 5), n % 500, 1 + n % ${rows} from ${numbers(rows * 1.5)}`,
    `insert into tag (id, label) select n, 'tag ' || n from ${numbers(100)}`,
  ],
}
