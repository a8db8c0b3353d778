import type { Json, JsonObject } from '../../../src/protocol/json.ts'
import type { Random } from '../../support/random.ts'
import type { Shape, World } from './world.ts'

/** A valid find, as data that can be altered. */
export interface FindRequest {
  readonly model: string
  readonly where: JsonObject
  readonly sort: readonly string[]
  readonly populate: JsonObject
  /** All attributes, where it is empty. */
  readonly select: readonly string[]
  readonly limit: number
  readonly skip: number
  readonly count: boolean
}

/** Where random choices are made. */
export interface Source {
  readonly random: Random
  readonly world: World
}

const shapeOf = ({ shapes }: World, model: string): Shape => shapes[model] as Shape

export const randomFind = (source: Source): FindRequest => {
  const { random, world } = source
  const model = random.pick([world.main, world.main, ...Object.keys(world.shapes)])
  return {
    model,
    where: condition(source, model, 3),
    sort: random.chance(0.5) ? [] : Array.from({ length: 1 + random.below(4) }, () => sortTerm(source, model)),
    populate: random.chance(0.7) ? {} : populated(source, model, 2),
    select: random.chance(0.8) ? [] : selected(source, model),
    limit: random.pick([1, 30, 30, 100, 1000]),
    skip: random.pick([0, 0, 0, 100, 100_000]),
    count: random.chance(0.2),
  }
}

/** A request that is likely to cost about the same or more: one part changed, repeated or nested. */
export function alter(source: Source, find: FindRequest): FindRequest {
  const { random } = source
  const { model, where, sort, populate } = find
  const alterations: readonly (() => Partial<FindRequest>)[] = [
    () => ({ where: { and: [where, condition(source, model, 2)] } }),
    () => ({ where: { or: [where, condition(source, model, 2)] } }),
    () => ({ where: { or: Array.from({ length: 2 + random.below(20) }, () => where) } }),
    () => ({ where: { not: where } }),
    () => ({ where: condition(source, model, 4) }),
    () => ({ sort: [...sort, sortTerm(source, model)].slice(-8) }),
    () => ({ populate: { ...populate, ...populated(source, model, 3) } }),
    () => ({ select: random.chance(0.5) ? [] : selected(source, model) }),
    () => ({ limit: random.pick([1, 1000]), skip: random.pick([0, 1_000_000]) }),
    () => ({ count: !find.count }),
  ]
  return { ...find, ...random.pick(alterations)() }
}

/** What follows the address of its model. */
export function parametersOf(find: FindRequest, ...names: readonly (keyof FindRequest)[]): string {
  const all = Object.entries(criteriaOf(find)).filter(([name]) => names.length === 0 || names.includes(name as never))
  const text = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))
  return `?${new URLSearchParams(all.map(([name, value]) => [name, text(value)]))}`
}

export const addressOf = (find: FindRequest): string => `/${find.model}${parametersOf(find)}`

/** As a JSON body. */
export const criteriaOf = ({ where, sort, populate, select, limit, skip, count }: FindRequest): JsonObject => ({
  where,
  limit,
  skip,
  populate: Object.keys(populate).length > 0 ? populate : false,
  ...(sort.length > 0 && { sort: sort.join(',') }),
  ...(select.length > 0 && { select: [...select] }),
  ...(count && { count: true }),
})

const selected = ({ random, world }: Source, model: string): string[] => {
  const { texts, numbers } = shapeOf(world, model)
  return Array.from({ length: 1 + random.below(3) }, () => random.pick([...texts, ...numbers]))
}

function condition(source: Source, model: string, depth: number): JsonObject {
  const { random, world } = source
  const { one, many } = shapeOf(world, model)
  const kind = depth === 0 ? 0 : random.below(10)
  if (kind < 4) return comparison(source, model)
  if (kind < 6) return { [random.pick(['or', 'and'])]: list(random, () => condition(source, model, depth - 1)) }
  if (kind === 6) return { not: condition(source, model, depth - 1) }
  const associations = [...one, ...many]
  if (associations.length === 0) return comparison(source, model)
  const [name, target] = random.pick(associations)
  return { [name]: random.chance(0.1) ? {} : condition(source, target, depth - 1) }
}

const list = (random: Random, make: () => JsonObject): JsonObject[] =>
  Array.from({ length: random.pick([1, 2, 3, 10, 30]) }, make)

/** Operands that match nothing, or all but a few, so that a database cannot end early. */
function comparison({ random, world }: Source, model: string): JsonObject {
  const { key, texts, numbers } = shapeOf(world, model)
  if (random.chance(0.1)) return { id: Array.from({ length: random.pick([1, 10, 400]) }, (_, index) => key(1 + index)) }
  if (random.chance(0.4)) {
    const operator = random.pick(['>', '<', '>=', '!=', 'in', 'nin'])
    const value: Json = operator.endsWith('in')
      ? Array.from({ length: random.pick([1, 10, 400]) }, () => random.below(1_000_000))
      : random.below(1_000_000) - 10
    return { [random.pick(numbers)]: { [operator]: value } }
  }
  const text = random.pick(['zz', 'a', '%a%b%', '_%_%_%', '%e%e%e%e%zz', 'same', 'x'.repeat(100)])
  return {
    [random.pick(texts)]: { [random.pick(['contains', 'like', 'startsWith', 'endsWith', '=', '!=', '>'])]: text },
  }
}

function sortTerm({ random, world }: Source, model: string): string {
  const { texts, numbers, one } = shapeOf(world, model)
  const direction = random.pick(['ASC', 'DESC'])
  if (one.length === 0 || random.chance(0.5)) return `${random.pick([...texts, ...numbers])} ${direction}`
  const [name, target] = random.pick(one)
  return `${name}.${random.pick(shapeOf(world, target).texts)} ${direction}`
}

function populated(source: Source, model: string, depth: number): JsonObject {
  const { random, world } = source
  const { one, many } = shapeOf(world, model)
  const associations = [...one, ...many]
  if (associations.length === 0) return {}
  const [name, target] = random.pick(associations)
  const isMany = many.some(([other]) => other === name)
  return {
    [name]: {
      ...(isMany && {
        where: condition(source, target, 1),
        limit: random.pick([1, 30, 50, 1000]),
        skip: random.pick([0, 0, 0, 20, 100_000]),
        sort: sortTerm(source, target),
      }),
      ...(random.chance(0.2) && { select: selected(source, target) }),
      ...(depth > 0 && random.chance(0.5) && { populate: populated(source, target, depth - 1) }),
    },
  }
}
