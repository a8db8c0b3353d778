import assert from 'node:assert/strict'
import type { Json } from '../../../src/protocol/json.ts'
import type { ServiceRequest, ServiceResponse } from '../../../src/protocol/request.ts'
import { type OpenService, openService } from '../../../src/service/open-service.ts'
import type { Random } from '../../support/random.ts'

/*
 * Requests that differ in values only, at a service that keeps what it parsed and compiled and at one that keeps nothing.
 */

// biome-ignore lint/suspicious/noExplicitAny: no types of records are needed
type Any = any

const models = {
  owner: {
    attributes: {
      name: { type: 'string' },
      pets: { collection: 'pet', via: 'owner' },
      likes: { collection: 'pet', via: 'fans' },
    },
    access: { read: ({ user: { kind } }: Any) => (kind === 'all' ? true : { name: { '!=': 'b' } }) },
  },
  pet: {
    attributes: {
      name: { type: 'string' },
      note: {
        type: 'string',
        access: { read: ({ user: { kind } }: Any) => (kind === 'all' ? true : { age: { '<': 4 } }) },
      },
      age: { type: 'number', isInteger: true },
      weight: { type: 'number' },
      born: { type: 'datetime' },
      tame: { type: 'boolean' },
      tags: { type: 'json' },
      owner: { model: 'owner' },
      fans: { collection: 'owner', via: 'likes' },
      initial: {
        type: 'string',
        computed: ['name'],
        get: (pet: Any) => pet.name[0],
        sql: (pet: Any) => `substr(${pet.name}, 1, 1)`,
      },
    },
    access: {
      read: ({ user: { kind } }: Any) =>
        kind === 'all' ? true : { or: [{ age: [1, 2, 3, 4] }, { owner: { name: 'a' } }] },
    },
  },
} as const

/** Of each attribute, values that records have or nearly have; the last one has only values that are refused. */
const values: Readonly<Record<string, readonly Json[]>> = {
  id: [1, 2, 3, '4', 5, null],
  name: ['a', 'ab', 'b', 'B', '', 'é', 'a%b', '\u{10ffff}', '\u{d7ff}', null],
  note: ['a', 'ab', 'b', '', 'x', null],
  age: [0, 1, 2, '3', 4, 5, null],
  weight: [0, 0.5, 1, '1.5', 2, 2 ** 31, null],
  born: ['2020-01-01', '2020-01-01T00:00:00.000Z', '2019-12-31', null],
  tame: [true, false, 'true', null],
  tags: [null, ['a']],
  owner: [1, 2, '3', null],
  initial: ['a', 'b', 'x', null],
  nothing: [1],
}
const related = { owner: ['id', 'name'], fans: ['id', 'name'] } as const
const texts = ['a', 'b', 'ab', '', '%', 'a%', '%b', '%a%', '_', 'a_%b', '\\', '\u{10ffff}', '\u{d7ff}']
const anything: readonly Json[] = [
  {},
  [],
  [null],
  [1, 2],
  'x',
  '{}',
  '[1]',
  '{"name":"a"}',
  2 ** 53,
  1e300,
  -1,
  3.5,
  true,
  null,
]
const textOperators = ['contains', 'startsWith', 'endsWith', 'like']
const operators = ['<', '<=', '>', '>=', '!=', '!', 'in', 'nin', ...textOperators]

/** `length`: of a list, mostly. */
type Give = (attribute: string, operator: string, length?: number) => Json
/** A condition without its values. */
type Shape = (give: Give) => Json

const listOf = <T>(random: Random, most: number, make: () => T): readonly T[] =>
  Array.from({ length: random.below(most + 1) }, make)

function valueFrom(random: Random): Give {
  return (attribute, operator, length = 0) => {
    if (random.chance(0.03)) return random.pick(anything)
    if (textOperators.includes(operator)) return random.pick(texts)
    const value = () => random.pick(values[attribute] as readonly Json[])
    if (operator !== 'in' && operator !== 'nin') return value()
    const items = Array.from({ length: random.chance(0.2) ? random.below(4) : length }, value)
    return items.map((item) => (item === null && random.chance(0.9) ? (values[attribute]?.[0] as Json) : item))
  }
}

const object = (members: readonly (readonly [string, Shape])[]): Shape => {
  const unique = [...new Map(members)]
  return (give) => Object.fromEntries(unique.map(([name, shape]) => [name, shape(give)]))
}

function comparison(random: Random, attribute: string): Shape {
  const [kind, length] = [random.below(4), random.below(4)]
  if (kind === 0) return (give) => give(attribute, '=')
  if (kind === 1) return (give) => give(attribute, 'in', length)
  const suited = ['name', 'note', 'initial'].includes(attribute) ? operators : operators.slice(0, 8)
  const chosen = listOf(random, 1, () => random.pick(random.chance(0.05) ? [...operators, 'none'] : suited))
  return object(
    [...chosen, random.pick(suited)].map((operator) => [operator, (give) => give(attribute, operator, length)]),
  )
}

function condition(random: Random, names: readonly string[], depth: number): Shape {
  const kind = depth > 2 ? 0 : random.below(11)
  const deeper = () => condition(random, names, depth + 1)
  const one = (name: string, shape: Shape) => object([[name, shape]])
  if (kind === 6) {
    const parts = listOf(random, 3, deeper)
    return one(random.pick(['or', 'and']), (give) => parts.map((part) => part(give)))
  }
  if (kind === 7) return one('not', deeper())
  if (kind === 8 && depth === 0) {
    const name = random.pick(['owner', 'fans'] as const)
    return one(name, condition(random, related[name], depth + 1))
  }
  if (kind === 9)
    return one(
      'like',
      one('name', (give) => give('name', 'like')),
    )
  if (kind === 10 && depth === 0) return (give) => give('id', random.pick(['=', 'in']))
  const members = listOf(random, 2, () => random.pick(names))
  return object([...members, random.pick(names)].map((name) => [name, comparison(random, name)]))
}

const endings = [
  ...['', '', '', '&sort=age%20DESC', '&sort=owner.name,name', '&sort=note&limit=2', '&select=name,initial'],
  ...[
    '&omit=fans&skip=1',
    '&populate=owner,fans',
    '&populate={"fans":{"where":{"name":"a"},"limit":1}}',
    '&count=true',
  ],
  ...['&limit=x', '&sort=tags', '&cursor=x'],
]
/** The service finds pets at all of them; at the third and fourth only those of an owner. */
const paths = ['/pet', '/pet', '/pet/find', '/owner/1/pets', '/owner/1/likes']

/** Requests of one shape: several values for one condition. */
export function* requests(random: Random): Generator<ServiceRequest> {
  const names = random.chance(0.1) ? Object.keys(values) : Object.keys(values).slice(0, -2)
  const shape = condition(random, names, 0)
  const path = random.pick(paths)
  const ends = [random.pick(endings), random.pick(endings)]
  // As one JSON text, as filters of the address, or as the body of a request.
  const [way, kind] = [random.pick(['where', 'filters', 'body']), random.pick(['all', 'some'])]
  for (let count = 0; count < 8; count++) yield requestOf(shape(valueFrom(random)), path, random.pick(ends), way, kind)
}

export interface Pair extends AsyncDisposable {
  /** Throws for answers that differ; resolves with the status. */
  compare(request: ServiceRequest): Promise<number>
}

export async function openPair(database: string): Promise<Pair> {
  const config = {
    models: models as Any,
    database,
    auth: { identify: ({ headers }: Any) => ({ id: 1, kind: headers.kind }) },
  }
  const keeping = await openService(config)
  await fill(keeping)
  const fresh = await openService({ ...config, cache: false })
  return {
    async compare(request) {
      const [kept, parsed] = [await keeping.handle({ ...request }), await fresh.handle({ ...request })]
      assert.deepEqual(told(kept), told(parsed), JSON.stringify(request))
      return kept.status
    },
    async [Symbol.asyncDispose]() {
      await keeping[Symbol.asyncDispose]()
      await fresh[Symbol.asyncDispose]()
    },
  }
}

const told = ({ status, headers, body }: ServiceResponse) => ({
  status,
  body,
  headers: ['ETag', 'Link', 'X-Total-Count'].map((name) => headers[name]),
})

function requestOf(condition: Json, path: string, rest: string, way: string, kind: string): ServiceRequest {
  const isObject = typeof condition === 'object' && condition !== null && !Array.isArray(condition)
  const common = { method: 'GET', path, headers: { kind }, site: 'none' as const }
  if (way === 'body') return { ...common, query: rest.slice(1), body: { where: condition } }
  if (way === 'filters' && isObject) return { ...common, query: (rest + filters(condition)).slice(1) }
  return { ...common, query: `${rest}&where=${encodeURIComponent(JSON.stringify(condition))}`.slice(1) }
}

/** `{ age: { '>': 3 }, name: ['a', 'b'] }` as `age[>]=3&name=a&name=b`; combinations stay JSON. */
function filters(condition: object): string {
  const pairs: string[] = []
  const add = (name: string, item: unknown): void => {
    if (name === 'or' || name === 'and') pairs.push(`&${name}=${encodeURIComponent(JSON.stringify(item))}`)
    else if (Array.isArray(item)) for (const [index, one] of item.entries()) add(`${name}[${index}]`, one)
    else if (typeof item === 'object' && item !== null)
      for (const [key, inner] of Object.entries(item)) add(`${name}[${key}]`, inner)
    else pairs.push(`&${encodeURIComponent(name)}=${encodeURIComponent(String(item))}`)
  }
  for (const [name, item] of Object.entries(condition)) add(name, item)
  return pairs.join('')
}

async function fill({ records }: OpenService): Promise<void> {
  const { owner, pet } = Object.fromEntries(records) as Any
  for (const name of ['a', 'b', 'ab']) await owner.create({ name })
  const names = ['a', 'ab', 'b', 'B', 'é', 'a%b', '', 'x']
  for (const [index, name] of names.entries())
    await pet.create({
      name,
      note: names[index + 1] ?? 'a',
      age: index - 1,
      weight: index / 2,
      born: index % 2 ? '2020-01-01T00:00:00.000Z' : null,
      tame: index % 3 === 0,
      tags: [name],
      owner: index % 4 === 0 ? null : index % 4,
      fans: [1 + (index % 3)],
    })
}
