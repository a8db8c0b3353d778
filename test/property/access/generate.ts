import type { Json, JsonObject } from '../../../src/protocol/json.ts'
import type { Random } from '../../support/random.ts'
import { type Condition, type ModelName, modelNames, openRules, type Rules, ruledAttributes } from './world.ts'

const attributes: Readonly<Record<ModelName, readonly string[]>> = {
  person: ['id', 'name', 'age', 'boss', 'label', 'rank'],
  pet: ['id', 'name', 'age', 'owner'],
  club: ['id', 'name'],
  membership: ['id', 'person', 'club', 'age'],
  tag: ['id', 'name'],
}
const associations: Readonly<Record<ModelName, Readonly<Record<string, ModelName>>>> = {
  person: { boss: 'person', pets: 'pet', staff: 'person', clubs: 'club' },
  pet: { owner: 'person', tags: 'tag' },
  club: { members: 'person' },
  membership: { person: 'person', club: 'club' },
  tag: { pets: 'pet' },
}

const values: Readonly<Record<string, readonly Json[]>> = {
  name: ['Ann', 'Bob', 'Rex', 'Kit', 'Chess', 'old', 'new', null],
  label: ['Ann!', 'Bob!', 'Ann', null],
  number: [1, 2, 3, 4, 30, 40, 41, null],
}

/** A condition on a model; the same grammar for rules and for requests. */
export function condition(random: Random, model: ModelName, depth = 2): Condition {
  const kind = depth === 0 ? 0 : random.below(6)
  if (kind === 1) return { or: [condition(random, model, depth - 1), condition(random, model, depth - 1)] }
  if (kind === 2) return { not: condition(random, model, depth - 1) }
  if (kind === 3 || kind === 4) {
    const name = random.pick(Object.keys(associations[model]))
    return { [name]: condition(random, associations[model][name] as ModelName, depth - 1) }
  }
  if (kind === 5) return { and: [condition(random, model, depth - 1), condition(random, model, depth - 1)] }
  const name = random.pick(attributes[model])
  const isText = name === 'name' || name === 'label'
  const value = random.pick(values[isText ? name : 'number'] as readonly Json[])
  const operator = random.below(3)
  if (operator === 1) return { [name]: { '!=': value } }
  if (operator === 2 && !isText) return { [name]: { '>': value ?? 1 } }
  return { [name]: value }
}

/** `isOwn`: rules of a record's own attributes only. */
export function randomRules(random: Random, isOwn = false): Rules {
  const drawn = (model: ModelName): Condition => {
    for (;;) {
      const found = condition(random, model)
      if (!isOwn || !isThrough(found, model)) return found
    }
  }
  const rule = (model: ModelName) => (random.below(3) === 0 ? true : drawn(model))
  const read = Object.fromEntries(modelNames.map((model) => [model, rule(model)])) as Rules['read']
  const masked = ruledAttributes
    .filter(() => random.below(3) === 0)
    .map((name) => [name, random.below(3) === 0 ? false : drawn(name.split('.')[0] as ModelName)])
  return { ...openRules, read, attributes: Object.fromEntries(masked) as Rules['attributes'] }
}

/** Whether a condition asks about other records, or of the computed values of this one. */
function isThrough(condition: Condition, model: ModelName): boolean {
  return Object.entries(condition).some(([name, value]) => {
    if (name === 'and' || name === 'or') return (value as readonly Condition[]).some((part) => isThrough(part, model))
    if (name === 'not') return isThrough(value as Condition, model)
    const isObject = typeof value === 'object' && value !== null
    return name in associations[model] && isObject && !('!=' in value) && !('>' in value)
  })
}

/** An address that a client may ask: reads only. */
export function randomAddress(random: Random): string {
  const model = random.pick(modelNames)
  const kind = random.below(5)
  if (kind === 0) return `/${model}/${1 + random.below(6)}${random.below(2) ? '?populate=false' : ''}`
  if (kind === 1) {
    const name = random.pick(Object.keys(associations[model]))
    return `/${model}/${1 + random.below(6)}/${name}`
  }
  const parameters: string[] = []
  if (random.below(2)) parameters.push(`where=${encodeURIComponent(JSON.stringify(condition(random, model, 3)))}`)
  if (random.below(2))
    parameters.push(`sort=${encodeURIComponent(`${sortTerm(random, model)} ${random.pick(['ASC', 'DESC'])}`)}`)
  if (random.below(3) === 0) parameters.push(`select=${random.pick(attributes[model])}`)
  if (random.below(3) === 0) parameters.push('populate=false')
  else if (random.below(2)) parameters.push(`populate=${encodeURIComponent(JSON.stringify(populate(random, model)))}`)
  if (random.below(2)) parameters.push('count=true')
  if (random.below(2)) parameters.push(`limit=${1 + random.below(3)}`)
  return `/${model}?${parameters.join('&')}`
}

/** A condition that passes through a model at once, where an association leads to it. */
function conditionThrough(random: Random, model: ModelName, through: ModelName): Condition {
  const names = Object.entries(associations[model]).flatMap(([name, target]) => (target === through ? name : []))
  if (names.length === 0) return condition(random, model)
  const related = { [random.pick(names)]: random.below(2) ? {} : condition(random, through, 0) }
  return random.below(3) ? related : { not: related }
}

/** A live query, in which only what is named is embedded. Many of its conditions pass through the model of a place. */
export function randomQuery(random: Random, place: string): JsonObject {
  const model = random.pick(modelNames)
  const through = place.split('.')[0] as ModelName
  const where = (model: ModelName): Condition =>
    random.below(2) ? condition(random, model) : conditionThrough(random, model, through)
  return {
    model,
    ...(random.below(2) && { where: where(model) }),
    ...(random.below(2) && { sort: `${sortTerm(random, model)} ${random.pick(['ASC', 'DESC'])}` }),
    ...(random.below(2) && { select: [random.pick(attributes[model])] }),
    ...(random.below(2) && { populate: populate(random, model, where) }),
    ...(random.below(4) === 0 && { count: true }),
    ...(random.below(3) === 0 && { limit: 1 + random.below(3) }),
    ...(random.below(8) === 0 && { skip: 1 }),
  } as JsonObject
}

/** A model or an attribute that may have a rule. */
export const randomPlace = (random: Random): string =>
  random.chance(0.6) ? random.pick(modelNames) : random.pick(ruledAttributes)

/** Rules that differ from others in one place. */
export function alteredRules(rules: Rules, place: string, random: Random): Rules {
  const model = place.split('.')[0] as ModelName
  const rule = condition(random, model)
  if (place === model) return { ...rules, read: { ...rules.read, [model]: random.below(4) === 0 || rule } }
  const { [place]: _, ...others } = rules.attributes
  if (random.below(4) === 0) return { ...rules, attributes: others }
  return { ...rules, attributes: { ...others, [place]: random.below(4) > 0 && rule } }
}

function sortTerm(random: Random, model: ModelName): string {
  const toOnes = Object.entries(associations[model]).filter(([name]) => attributes[model].includes(name))
  if (toOnes.length > 0 && random.below(3) === 0) {
    const [name, target] = random.pick(toOnes)
    return `${name}.${random.pick(attributes[target])}`
  }
  return random.pick(attributes[model])
}

function populate(random: Random, model: ModelName, where = (target: ModelName) => condition(random, target, 1)): Json {
  const name = random.pick(Object.keys(associations[model]))
  const target = associations[model][name] as ModelName
  return {
    [name]: {
      ...(random.below(2) && { where: where(target) }),
      ...(random.below(2) && { sort: `${random.pick(attributes[target])} DESC` }),
      // A page of a junction's rows would hold those of unreadable members in the reference.
      ...(random.below(3) === 0 && !['clubs', 'members'].includes(name) && { limit: 1 }),
    },
  }
}
