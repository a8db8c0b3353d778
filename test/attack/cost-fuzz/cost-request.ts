import type { Json, JsonObject } from '../../../src/protocol/json.ts'
import type { Random } from '../../support/random.ts'
import { addressOf, alter, criteriaOf, type FindRequest, parametersOf, randomFind } from './find-request.ts'
import { type ModelName, shapes } from './models.ts'

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

const changed: Readonly<Record<ModelName, string>> = { owner: 'city', pet: 'age', visit: 'cost', tag: 'label' }

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
  'change by condition': ({ finds: [find], count }) => ({
    method: 'PATCH',
    address: `/${find.model}${parametersOf(find, 'where', 'populate')}`,
    body: { [changed[find.model]]: shapes[find.model].texts.includes(changed[find.model]) ? `x ${count}` : count },
  }),
  'destroy by condition': ({ finds: [find], count }) => ({
    method: 'DELETE',
    address: `/visit?where=${encodeURIComponent(JSON.stringify({ id: { '>': 500, '<': 500 + count }, ...(find.model === 'visit' && { and: [find.where] }) }))}`,
  }),
  'nested records': ({ finds: [find], count }) => ({
    method: 'POST',
    address: `/owner${find.model === 'owner' ? parametersOf(find, 'populate') : ''}`,
    body: { name: 'new', pets: Array.from({ length: count }, (_, index) => nested(index)) },
  }),
  'a list of records': ({ finds: [find], count }) => ({
    method: 'POST',
    address: `/visit${find.model === 'visit' ? parametersOf(find, 'populate') : ''}`,
    body: Array.from({ length: count * 5 }, (_, index) => ({ status: 'new', cost: index, pet: 1 + index })),
  }),
  members: ({ count }) => ({
    method: 'PUT',
    address: `/owner/${1 + (count % 7)}/pets`,
    body: Array.from({ length: count }, (_, index) => 2 + index),
  }),
} satisfies Record<
  string,
  (request: { readonly finds: readonly [FindRequest, ...FindRequest[]]; readonly count: number }) => SentRequest
>

const nested = (index: number): JsonObject => ({
  name: `new ${index}`,
  ...(index % 3 === 0 && { visits: [{ status: 'new' }, { cost: index }], tags: [1 + (index % 90)] }),
})

export const sentOf = ({ kind, ...request }: CostRequest): SentRequest => kinds[kind](request as never)

const counts = [1, 30, 300, 1000]
const randomKind = (random: Random): Kind =>
  random.chance(0.4) ? 'find' : random.pick(Object.keys(kinds) as readonly Kind[])

export const randomRequest = (random: Random): CostRequest => ({
  kind: randomKind(random),
  finds: Array.from({ length: random.pick([1, 1, 3, 20]) }, () => randomFind(random)),
  count: random.pick(counts),
})

/** A request that is likely to cost about the same or more: one of its finds altered, more of them, or of another kind. */
export function alterRequest(random: Random, request: CostRequest): CostRequest {
  const { finds } = request
  const at = random.below(finds.length)
  const alterations: readonly (() => Partial<CostRequest>)[] = [
    () => ({ finds: finds.map((find, index) => (index === at ? alter(random, find) : find)) }),
    () => ({ finds: finds.map((find, index) => (index === at ? alter(random, find) : find)) }),
    () => ({ finds: [...finds, ...finds.map((find) => alter(random, find))].slice(0, 100) }),
    () => ({ kind: randomKind(random) }),
    () => ({ count: random.pick(counts) }),
  ]
  return { ...request, ...random.pick(alterations)() }
}
