import type { RuleContext, RuleOutcome } from '../../../src/model/access-rules.ts'
import type { ModelDefinitions } from '../../../src/model/definition.ts'
import type { Json } from '../../../src/protocol/json.ts'

/*
 * A small database with every kind of association, and rules that a test exchanges while the service runs: each rule of
 * the models looks up what `rules` says at the moment.
 */

export const modelNames = ['person', 'pet', 'club', 'membership', 'tag'] as const
export type ModelName = (typeof modelNames)[number]
export type Condition = { readonly [name: string]: Json }
export type Row = { readonly [column: string]: Json }

/** What one requester may do, for the time being. An attribute that is missing is readable. */
export interface Rules {
  readonly read: { readonly [model in ModelName]: true | Condition }
  readonly update: { readonly [model in ModelName]: boolean | Condition }
  readonly create: { readonly [model in ModelName]: boolean | Condition }
  readonly destroy: { readonly [model in ModelName]: boolean | Condition }
  /** By `model.attribute`: false, or the condition under which the value is seen. */
  readonly attributes: { readonly [attribute: string]: false | Condition }
}

export const openRules: Rules = {
  read: { person: true, pet: true, club: true, membership: true, tag: true },
  update: { person: true, pet: true, club: true, membership: true, tag: true },
  create: { person: true, pet: true, club: true, membership: true, tag: true },
  destroy: { person: true, pet: true, club: true, membership: true, tag: true },
  attributes: {},
}

let rules: Rules = openRules
let rulesOfUsers: ReadonlyMap<unknown, Rules> = new Map()
/** `ofUsers`: by their ids, of requesters that have rules of their own. */
export const setRules = (next: Rules, ofUsers: ReadonlyMap<unknown, Rules> = new Map()): void => {
  rules = next
  rulesOfUsers = ofUsers
}
const rulesOf = ({ user }: RuleContext): Rules => rulesOfUsers.get(user?.id) ?? rules

const ruleFor =
  (action: 'read' | 'update' | 'create' | 'destroy', model: ModelName) =>
  (context: RuleContext): RuleOutcome =>
    rulesOf(context)[action][model]
const accessOf = (model: ModelName) => ({
  read: ruleFor('read', model),
  update: ruleFor('update', model),
  create: ruleFor('create', model),
  destroy: ruleFor('destroy', model),
})
const attributeOf = (name: string) => ({
  read: (context: RuleContext): RuleOutcome => rulesOf(context).attributes[name] ?? true,
})

const label = ({ name }: Row): Json => (typeof name === 'string' ? `${name}!` : null)
const rank = ({ age, boss }: Row): Json => Number(age) + Number(boss)

/** Attributes that the reference stores, as they are computed from what is not masked. */
const computedOf = (isRuled: boolean): Readonly<Record<string, object>> => ({
  label: {
    type: 'string',
    ...(isRuled && { computed: ['name'], get: label, sql: (from: Row) => `${from.name} || '!'` }),
  },
  rank: {
    type: 'number',
    ...(isRuled && {
      computed: ['age', 'boss'],
      get: rank,
      sql: (from: Row) => `coalesce(${from.age}, 0) + coalesce(${from.boss}, 0)`,
    }),
  },
})

/** With rules, or without any, as the models of the reference. */
export function modelsOf(isRuled: boolean, isLeftOut: (attribute: string) => boolean): ModelDefinitions {
  const pick = (model: ModelName, attributes: Readonly<Record<string, object>>): ModelDefinitions[string] => ({
    ...(isRuled && { access: accessOf(model) }),
    attributes: Object.fromEntries(
      Object.entries(attributes)
        .filter(([name]) => !isLeftOut(`${model}.${name}`))
        .map(([name, definition]) => {
          const hasRule = isRuled && ruledAttributes.includes(`${model}.${name}`)
          return [name, { ...definition, ...(hasRule && { access: attributeOf(`${model}.${name}`) }) }]
        }),
    ),
  })
  const via = (attribute: string, definition: object) => (isLeftOut(attribute) ? {} : definition)
  return {
    person: pick('person', {
      name: { type: 'string' },
      age: { type: 'number' },
      ...computedOf(isRuled),
      ...via('pet.owner', { pets: { collection: 'pet', via: 'owner' } }),
      ...via('person.boss', { staff: { collection: 'person', via: 'boss' } }),
      boss: { model: 'person' },
      ...via(
        'membership.person',
        via('membership.club', { clubs: { collection: 'club', through: 'membership', via: 'person' } }),
      ),
    }),
    pet: pick('pet', {
      name: { type: 'string' },
      age: { type: 'number' },
      owner: { model: 'person' },
      tags: { collection: 'tag', via: 'pets' },
    }),
    club: pick('club', {
      name: { type: 'string' },
      ...via(
        'membership.person',
        via('membership.club', { members: { collection: 'person', through: 'membership', via: 'club' } }),
      ),
    }),
    membership: pick('membership', { person: { model: 'person' }, club: { model: 'club' }, age: { type: 'number' } }),
    tag: pick('tag', { name: { type: 'string' }, pets: { collection: 'pet', via: 'tags' } }),
  }
}

/** The attributes that rules may concern. */
export const ruledAttributes = [
  'person.label',
  'person.name',
  'person.age',
  'person.boss',
  'pet.name',
  'pet.age',
  'pet.owner',
  'club.name',
  'membership.age',
  'membership.person',
  'tag.name',
]

/** The table of a junction without a model. */
export const junction = 'pet_tags__tag_pets'

export const data: Readonly<Record<ModelName, readonly Row[]>> = {
  person: [
    { id: 1, name: 'Ann', age: 30, boss: null },
    { id: 2, name: 'Bob', age: 40, boss: 1 },
    { id: 3, name: 'Cleo', age: null, boss: 2 },
    { id: 4, name: null, age: 30, boss: 1 },
  ],
  pet: [
    { id: 1, name: 'Rex', age: 1, owner: 1 },
    { id: 2, name: 'Tom', age: 2, owner: 2 },
    { id: 3, name: 'Kit', age: null, owner: 2 },
    { id: 4, name: null, age: 2, owner: null },
    { id: 5, name: 'Rex', age: 3, owner: 3 },
    { id: 6, name: 'Zoe', age: 1, owner: 4 },
  ],
  club: [
    { id: 1, name: 'Chess' },
    { id: 2, name: 'Rowing' },
    { id: 3, name: null },
  ],
  membership: [
    { id: 1, person: 1, club: 1, age: 1 },
    { id: 2, person: 2, club: 1, age: 2 },
    { id: 3, person: 2, club: 2, age: null },
    { id: 4, person: 3, club: 3, age: 4 },
    { id: 5, person: 4, club: 2, age: 1 },
  ],
  tag: [
    { id: 1, name: 'old' },
    { id: 2, name: 'new' },
    { id: 3, name: null },
  ],
}

/** A row of a model with its computed attributes. */
export const completed = (model: ModelName, row: Row): Row =>
  model === 'person' ? { ...row, label: label(row), rank: rank(row) } : row

/** The same rows with the computed attributes. */
export const complete: typeof data = { ...data, person: data.person.map((row) => completed('person', row)) }

/** Pairs of a pet and a tag. */
export const tagged: readonly (readonly [pet: number, tag: number])[] = [
  [1, 1],
  [1, 2],
  [2, 2],
  [3, 3],
  [5, 1],
  [6, 2],
  [6, 3],
]

/** All rows, and the pairs of the junction. */
export type World = Readonly<Record<ModelName, readonly Row[]>> & { readonly tagged: typeof tagged }

export const stored: World = { ...complete, tagged }
