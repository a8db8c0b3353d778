import type { Json, JsonObject } from '../../../src/protocol/json.ts'
import {
  addressOf,
  alter,
  criteriaOf,
  type FindRequest,
  parametersOf,
  randomFind,
  type Source,
} from './find-request.ts'
import type { Shape, World } from './world.ts'

/** What is sent. */
export interface SentRequest {
  readonly method: string
  readonly address: string
  readonly body?: Json
  /** The address of the next page, in the answer, is what costs. */
  readonly isNextPage?: boolean
  /** The answer does not end: it is read until it has the rows of so many queries. */
  readonly queries?: number
}

/** A request of any kind that is made of finds, as data that can be altered. */
export interface CostRequest {
  readonly kind: Kind
  readonly finds: readonly FindRequest[]
  /** Of records that are written. */
  readonly count: number
}

type Kind = keyof typeof kinds

const kinds = {
  find: ({ finds: [find] }) => ({ method: 'GET', address: addressOf(find) }),
  'find by its body': ({ finds: [find] }) => ({ method: 'GET', address: `/${find.model}`, body: criteriaOf(find) }),
  'next page': ({ finds: [find] }) => ({ method: 'GET', address: addressOf({ ...find, skip: 0 }), isNextPage: true }),
  batch: ({ finds }) => ({
    method: 'POST',
    address: '/batch',
    body: finds.map((find) => ({ method: 'GET', url: addressOf(find) })),
  }),
  'live queries': ({ finds }) => ({
    method: 'POST',
    address: '/live',
    body: {
      queries: Object.fromEntries(
        finds.map((find, index) => [`q${index}`, { model: find.model, ...criteriaOf(find) } as JsonObject]),
      ),
    },
    queries: finds.length,
  }),
  action: ({ finds }) => ({
    method: 'POST',
    address: '/search',
    body: finds.slice(0, 5).map((find) => ({ model: find.model, ...criteriaOf(find) })),
  }),
  'change by condition': ({ finds: [find], count, shapes }) => ({
    method: 'PATCH',
    address: `/${find.model}${parametersOf(find, 'where', 'populate')}`,
    body: valuesOf(shapes[find.model] as Shape, count),
  }),
  'destroy by condition': ({ finds: [find], count, shapes }) => ({
    method: 'DELETE',
    address: `/${find.model}?where=${encodeURIComponent(JSON.stringify({ and: [find.where, keysOf(shapes[find.model] as Shape, count)] }))}`,
  }),
  'nested records': ({ finds: [find], count, shapes }) => ({
    method: 'POST',
    address: `/${find.model}${parametersOf(find, 'populate')}`,
    body: nested(shapes, find.model, count),
  }),
  'a list of records': ({ finds: [find], count, shapes }) => ({
    method: 'POST',
    address: `/${find.model}${parametersOf(find, 'populate')}`,
    body: Array.from({ length: count * 5 }, (_, index) => newRecord(shapes, find.model, index)),
  }),
  members: ({ finds: [find], count, shapes }) => {
    const { key, many } = shapes[find.model] as Shape
    const [name, target] = many[count % Math.max(1, many.length)] ?? []
    if (name === undefined) return { method: 'GET', address: addressOf(find) }
    const { key: targetKey } = shapes[target as string] as Shape
    return {
      method: 'PUT',
      address: `/${find.model}/${key(1 + (count % 7))}/${name}`,
      body: Array.from({ length: count }, (_, index) => targetKey(2 + index)),
    }
  },
} satisfies Record<
  string,
  (request: {
    readonly finds: readonly [FindRequest, ...FindRequest[]]
    readonly count: number
    readonly shapes: World['shapes']
  }) => SentRequest
>

const keysOf = ({ key }: Shape, count: number): JsonObject => ({ id: { '>': key(500), '<': key(500 + count) } })

const valuesOf = ({ texts, numbers }: Shape, number: number): JsonObject => ({
  ...Object.fromEntries(texts.map((name) => [name, `new ${number}`])),
  ...Object.fromEntries(numbers.filter((name) => name !== 'id').map((name) => [name, number])),
})

const newRecord = (shapes: World['shapes'], model: string, number: number): JsonObject => {
  const shape = shapes[model] as Shape
  const references = shape.one.map(([name, target]) => [name, (shapes[target] as Shape).key(1 + number)])
  return { ...valuesOf(shape, number), ...Object.fromEntries(references) }
}

/** With new members, and members that exist, in each of its to-many associations. */
const nested = (shapes: World['shapes'], model: string, count: number): JsonObject => {
  const shape = shapes[model] as Shape
  const members = shape.many.map(([name, target]): [string, Json] => [
    name,
    Array.from({ length: count }, (_, index) =>
      index % 3 === 0 ? (shapes[target] as Shape).key(1 + (index % 90)) : valuesOf(shapes[target] as Shape, index),
    ),
  ])
  return { ...valuesOf(shape, count), ...Object.fromEntries(members) }
}

export const sentOf = ({ kind, ...request }: CostRequest, { shapes }: World): SentRequest =>
  kinds[kind]({ ...request, shapes } as never)

const counts = [1, 30, 300, 1000]
const randomKind = ({ random }: Source): Kind =>
  random.chance(0.4) ? 'find' : random.pick(Object.keys(kinds) as readonly Kind[])

export const randomRequest = (source: Source): CostRequest => ({
  kind: randomKind(source),
  finds: Array.from({ length: source.random.pick([1, 1, 3, 20]) }, () => randomFind(source)),
  count: source.random.pick(counts),
})

/** A request that is likely to cost about the same or more: one of its finds altered, more of them, or of another kind. */
export function alterRequest(source: Source, request: CostRequest): CostRequest {
  const { random } = source
  const { finds } = request
  const at = random.below(finds.length)
  const alterations: readonly (() => Partial<CostRequest>)[] = [
    () => ({ finds: finds.map((find, index) => (index === at ? alter(source, find) : find)) }),
    () => ({ finds: finds.map((find, index) => (index === at ? alter(source, find) : find)) }),
    () => ({ finds: [...finds, ...finds.map((find) => alter(source, find))].slice(0, 100) }),
    () => ({ kind: randomKind(source) }),
    () => ({ count: random.pick(counts) }),
  ]
  return { ...request, ...random.pick(alterations)() }
}
