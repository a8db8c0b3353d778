import type { JsonObject } from '../../../src/protocol/json.ts'
import { fenceId, heavy, type ModelName, modelNames, models, type Rows, type Truth } from './models.ts'

/*
 * Users of a history with access rules. Each rule is here twice: as a condition, and as a plain function of the tables.
 */

/** What they may read depends on: a record itself; a to-one; a many-to-many, with `not`. */
export const userNames = ['own', 'through', 'tagged'] as const
export type UserName = (typeof userNames)[number]

interface ReadRule {
  readonly where: JsonObject
  readonly holds: (row: JsonObject, truth: Truth) => boolean
}

const isEven = ({ mark }: JsonObject): boolean => /[02468]$/.test(String(mark))
const even: JsonObject = { or: ['0', '2', '4', '6', '8'].map((digit) => ({ mark: { endsWith: digit } })) }
const ofMark: ReadRule = { where: even, holds: isEven }

const isHeavy = ({ weight }: JsonObject): boolean => (weight as number) >= heavy
const isHeavyPet: JsonObject = { weight: { '>=': heavy } }

/** Whether one of the members fulfils the condition. */
const some = (truth: Truth, model: ModelName, { id }: JsonObject, of: Rows, holds: (row: JsonObject) => boolean) =>
  [...(truth[model].members.get(id as number) ?? [])].some((member) => holds(of.get(member) ?? {}))
const hasEvenOwner = ({ owner }: JsonObject, { owner: { rows } }: Truth) =>
  typeof owner === 'number' && isEven(rows.get(owner) ?? {})

const rules: Readonly<Record<UserName, Readonly<Record<ModelName, ReadRule>>>> = {
  own: {
    owner: ofMark,
    pet: { where: { weight: { '<': heavy } }, holds: (row) => !isHeavy(row) },
    tag: ofMark,
  },
  through: {
    owner: {
      where: { pets: isHeavyPet },
      holds: (row, truth) => some(truth, 'owner', row, truth.pet.rows, isHeavy),
    },
    pet: { where: { owner: even }, holds: hasEvenOwner },
    tag: {
      where: { pets: { owner: even } },
      holds: (row, truth) => some(truth, 'tag', row, truth.pet.rows, (pet) => hasEvenOwner(pet, truth)),
    },
  },
  tagged: {
    owner: {
      where: { not: { pets: isHeavyPet } },
      holds: (row, truth) => !some(truth, 'owner', row, truth.pet.rows, isHeavy),
    },
    pet: { where: { tags: even }, holds: (row, truth) => some(truth, 'pet', row, truth.tag.rows, isEven) },
    tag: {
      where: { not: { pets: {} } },
      holds: ({ id }, truth) => (truth.tag.members.get(id as number)?.size ?? 0) === 0,
    },
  },
}

/** What the user reads of the tables. The records that mark moments are readable for everyone. */
export function readable(user: UserName, model: ModelName, truth: Truth): Rows {
  const { holds } = rules[user][model]
  const rows = [...truth[model].rows].filter(([id, row]) => id === fenceId || holds(row, truth))
  return new Map(rows.map(([id, row]) => [id, user === 'tagged' ? masked(row) : row]))
}

/** For one user, the weight is readable where the mark is even. */
const masked = (row: JsonObject): JsonObject =>
  'weight' in row && row.id !== fenceId && !isEven(row) ? { ...row, weight: null } : row

export interface HistoryUser {
  readonly name: UserName
}

interface AuthRequest {
  readonly headers: Readonly<Record<string, unknown>>
  readonly query: string
}

/** The header of a request or a parameter of a socket. Those without, which are those of writers, may do everything. */
export const auth = {
  identify({ headers, query }: AuthRequest): HistoryUser | null {
    const name = headers['x-user'] ?? new URLSearchParams(query).get('user')
    return name === null ? null : { name: name as UserName }
  },
}

export interface Context {
  readonly user: HistoryUser | null
}
const orFence = (condition: JsonObject): JsonObject => ({ or: [{ id: fenceId }, condition] })

const accessTo = (model: ModelName) => {
  const everyone = { create: true, update: true, destroy: true, add: true, remove: true } as const
  return { ...everyone, read: ({ user }: Context) => user === null || orFence(rules[user.name][model].where) }
}

const weight = {
  ...models.pet.attributes.weight,
  access: { read: ({ user }: Context) => user?.name !== 'tagged' || orFence(even) },
}

/** The models of the history, with rules. */
export const ruledModels = {
  ...(Object.fromEntries(
    modelNames.map((model) => [model, { ...models[model], access: accessTo(model) }]),
  ) as unknown as typeof models),
  pet: { access: accessTo('pet'), attributes: { ...models.pet.attributes, weight } },
}
