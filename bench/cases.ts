import { cities, kinds, pick, type Random, randomFrom, randomPet, randomWeight, recordCount } from './data.ts'

/** One HTTP request of a case. */
export interface BenchRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT'
  readonly target: string
  readonly body?: string
}

export interface BenchCase {
  readonly name: string
  readonly title: string
  /** `cursor` is the beginning of page 300, in the form of the server. */
  readonly request: (random: Random, cursor: string) => BenchRequest
}

const someId = (random: Random): number => 1 + Math.floor(random() * recordCount)

/** In this order, so that reads are measured before writes. */
export const cases: readonly BenchCase[] = [
  {
    name: 'one',
    title: 'one record by key',
    request: (random) => ({ method: 'GET', target: `/pet/${someId(random)}` }),
  },
  { name: 'list', title: 'list of 30', request: () => ({ method: 'GET', target: '/pet?limit=30' }) },
  {
    name: 'filtered',
    title: 'filtered, sorted, 30',
    request: (random) => {
      const where = JSON.stringify({ kind: pick(kinds, random), weight: { '>=': randomWeight(random) / 4 } })
      return { method: 'GET', target: `/pet?where=${encodeURIComponent(where)}&sort=age%20DESC&limit=30` }
    },
  },
  {
    name: 'update',
    title: 'update two attributes',
    request: (random) => ({
      method: 'PATCH',
      target: `/pet/${someId(random)}`,
      body: JSON.stringify({ weight: randomWeight(random), vaccinated: random() < 0.5 }),
    }),
  },
  {
    name: 'create',
    title: 'create',
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
    request: (_, cursor) => ({
      method: 'GET',
      target: `/patient?sort=age&limit=30&populate=false&cursor=${encodeURIComponent(cursor)}`,
    }),
  },
]

/** The same requests for every server; most of them differ, so that no server can answer from a cache. */
export function requestsOf(name: string, cursor = '', count = 4096): readonly BenchRequest[] {
  const found = cases.find((candidate) => candidate.name === name)
  if (!found) throw new Error(`There is no case "${name}"; there are ${cases.map((known) => known.name).join(', ')}`)
  const random = randomFrom(7)
  return Array.from({ length: count }, () => found.request(random, cursor))
}
