import type { Json, JsonObject } from '../../../src/protocol/json.ts'
import type { Random } from '../../support/random.ts'
import { fulfils } from './reference.ts'
import { completed, type ModelName, type Row, type Rules, type World } from './world.ts'

/* Random writers, and the plain reading of the rules on what they do: which events a listener receives. */

/** The models that are changed and listened to. Each has a reference to a person, whose members they are. */
export const changedModels = ['person', 'pet'] as const
export type ChangedModel = (typeof changedModels)[number]
const references = {
  person: { attribute: 'boss', members: 'staff' },
  pet: { attribute: 'owner', members: 'pets' },
} as const

export interface RowChange {
  readonly model: ChangedModel
  readonly id: number
  readonly before: Row | undefined
  readonly after: Row | undefined
}

const names: readonly Json[] = ['Ann', 'Bob', 'Rex', 'Kit', null]
const numbers: readonly Json[] = [1, 2, 3, 4, 30, 40, null]

/** Pets and persons that nothing refers to are also created and destroyed. */
export function randomChange(random: Random, world: World, nextId: number): RowChange {
  const model = random.pick(changedModels)
  const reference = references[model].attribute
  const values = (): Row => ({
    name: random.pick(names),
    age: random.pick(numbers),
    [reference]: random.pick([1, 2, 3, 4, null]),
  })
  const created = world[model].filter(({ id }) => (id as number) >= firstNewId)
  const kind = random.below(6)
  if (kind === 0 || (kind === 1 && created.length === 0))
    return { model, id: nextId, before: undefined, after: completed(model, { id: nextId, ...values() }) }
  const before = kind === 1 ? random.pick(created) : random.pick(world[model])
  const id = before.id as number
  if (kind === 1) return { model, id, before, after: undefined }
  const changed = Object.entries(values()).filter(() => random.chance(0.4))
  return { model, id, before, after: completed(model, { ...before, ...Object.fromEntries(changed) }) }
}

/** Keys of rows that the test creates; nothing refers to them. */
export const firstNewId = 100

export function changedWorld(world: World, { model, id, after }: RowChange): World {
  const others = world[model].filter((row) => row.id !== id)
  return { ...world, [model]: after ? [...others, after] : others }
}

/** What a listener to a model receives of a change, in order. `world` is what is stored after it. */
export function expectedEvents(listened: ChangedModel, change: RowChange, rules: Rules, world: World): JsonObject[] {
  return [
    ...(listened === 'person' ? memberEvents(change, rules, world) : []),
    ...(listened === change.model ? recordEvents(change, rules, world) : []),
  ]
}

function recordEvents({ model, id, before, after }: RowChange, rules: Rules, world: World): JsonObject[] {
  const seen = (row: Row | undefined) =>
    row && fulfils(rules.read[model], model, row, world) ? shown(model, row, rules, world) : undefined
  const [from, to] = [seen(before), seen(after)]
  if (!from && !to) return []
  if (!from) return [{ verb: 'created', id, data: to as JsonObject }]
  if (!to) return [after ? { verb: 'destroyed', id } : { verb: 'destroyed', id, previous: from }]
  const changed = Object.entries(to).filter(([name, value]) => value !== from[name])
  if (changed.length === 0) return []
  return [{ verb: 'updated', id, data: { id, ...Object.fromEntries(changed) }, previous: from }]
}

function shown(model: ModelName, row: Row, { attributes }: Rules, world: World): JsonObject {
  const values = Object.entries(row).flatMap(([name, value]): [string, Json][] => {
    const rule = attributes[`${model}.${name}`]
    if (rule === false) return []
    return [[name, rule === undefined || fulfils(rule, model, row, world) ? value : null]]
  })
  return Object.fromEntries(values)
}

/** The person that a record refers to gets or loses a member: to be read are the person, the record and its reference. */
function memberEvents({ model, id, before, after }: RowChange, rules: Rules, world: World): JsonObject[] {
  const { attribute, members } = references[model]
  const [from, to] = [before?.[attribute] ?? null, after?.[attribute] ?? null]
  if (from === to) return []
  const isSeen = (key: Json, row: Row | undefined): boolean => {
    const person = world.person.find(({ id }) => id === key)
    if (!person || !row || !fulfils(rules.read.person, 'person', person, world)) return false
    const rule = rules.attributes[`${model}.${attribute}`]
    const isReadable = rule === undefined || (rule !== false && fulfils(rule, model, row, world))
    return isReadable && fulfils(rules.read[model], model, row, world)
  }
  return [
    ...(isSeen(to, after) ? [{ verb: 'addedTo', id: to, attribute: members, addedId: id }] : []),
    ...(isSeen(from, before) ? [{ verb: 'removedFrom', id: from, attribute: members, removedId: id }] : []),
  ]
}
