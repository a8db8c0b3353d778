import { cities, kinds, pick, type Random, randomFrom, randomPet, randomWeight, recordCount } from './data.ts'

/** One HTTP request of a case. */
export interface BenchRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT'
  readonly target: string
  readonly body?: string
  /** Sent as `If-None-Match`. Keelson answers 304; a server without entity tags sends the complete response. */
  readonly tag?: string
}

/** Values that a server returned before the run, and that requests to it contain. */
export interface Given {
  /** The cursor of page 300, in the form of the server. */
  readonly cursor: string
  /** The entity tag of the list of patients, which no case changes. */
  readonly tag: string
}

export interface BenchCase {
  readonly name: string
  readonly title: string
  readonly writes?: true
  readonly request: (random: Random, given: Given) => BenchRequest
}

const someId = (random: Random): number => 1 + Math.floor(random() * recordCount)

const list: BenchRequest = { method: 'GET', target: '/pet?limit=30' }

const update = (random: Random): BenchRequest => ({
  method: 'PATCH',
  target: `/pet/${someId(random)}`,
  body: JSON.stringify({ weight: randomWeight(random), vaccinated: random() < 0.5 }),
})

/** The list whose tag is `Given.tag`. */
export const taggedList = '/patient?limit=30&populate=false'

/** In this order, so that reads are measured before writes. */
export const cases: readonly BenchCase[] = [
  {
    name: 'one',
    title: 'one record by key',
    request: (random) => ({ method: 'GET', target: `/pet/${someId(random)}` }),
  },
  { name: 'list', title: 'list of 30', request: () => list },
  {
    name: '304',
    title: 'list of 30, by its tag',
    request: (_, { tag }) => ({ method: 'GET', target: taggedList, tag }),
  },
  {
    name: 'filtered',
    title: 'filtered, sorted, 30',
    request: (random) => {
      const where = JSON.stringify({ kind: pick(kinds, random), weight: { '>=': randomWeight(random) / 4 } })
      return { method: 'GET', target: `/pet?where=${encodeURIComponent(where)}&sort=age%20DESC&limit=30` }
    },
  },
  {
    name: 'mixed',
    title: 'list of 30, 10 % updates',
    writes: true,
    request: (random) => (random() < 0.1 ? update(random) : list),
  },
  {
    name: 'update',
    title: 'update two attributes',
    writes: true,
    request: update,
  },
  {
    name: 'create',
    title: 'create',
    writes: true,
    request: (random) => ({ method: 'POST', target: '/pet', body: JSON.stringify(randomPet(random)) }),
  },
  {
    name: 'populated',
    title: 'list of 30, populated',
    request: () => ({ method: 'GET', target: '/patient?limit=30' }),
  },
  {
    name: 'through',
    title: 'by the owner’s city, 30',
    request: (random) => {
      const where = JSON.stringify({ owner: { city: pick(cities, random) } })
      return { method: 'GET', target: `/patient?where=${encodeURIComponent(where)}&limit=30&populate=false` }
    },
  },
  {
    name: 'cursor',
    title: 'page 300 by cursor',
    request: (_, { cursor }) => ({
      method: 'GET',
      target: `/patient?sort=age&limit=30&populate=false&cursor=${encodeURIComponent(cursor)}`,
    }),
  },
]

const nothing: Given = { cursor: '', tag: '' }

/** The same requests for every server; most of them differ, so that no server can answer from a cache. */
export function requestsOf(name: string, given = nothing, count = 4096): readonly BenchRequest[] {
  const found = cases.find((candidate) => candidate.name === name)
  if (!found) throw new Error(`There is no case "${name}"; there are ${cases.map((known) => known.name).join(', ')}`)
  const random = randomFrom(7)
  return Array.from({ length: count }, () => found.request(random, given))
}
