import { owners } from '../models.ts'
import { find, type Hostile, type HostileRequest, post, several } from './hostile.ts'

const likes = (n: number, count: number) => several(count, (i) => ({ note: { like: `%${i}%x${n}%b` } }))
const equalities = (n: number, count: number) => several(count, (i) => ({ name: `Pet ${n} ${i}` }))

/** The planner takes the two for independent and expects a page after a few thousand rows; there is none, and all are read. */
const walk = (n: number) => find('pet', { kind: 'kind 0', age: 1 + 2 * (n % 10) })
const membersOf = (n: number) => find('pet', { owner: owners.huge, note: { contains: `no ${n}` } })
const batchOf = (request: (n: number) => HostileRequest) => (n: number) =>
  post(
    '/batch',
    several(200, (i) => ({ method: 'GET', url: request(n * 200 + i).path })),
  )

/** Filters, sort orders and associations that read much, and writes that change much. */
export const hostileReads: readonly Hostile[] = [
  {
    name: '700 empty related conditions',
    request: () => find('pet', { or: several(700, () => ({ not: { visits: {} } })) }),
  },
  {
    name: '25 empty related conditions',
    request: (n) => find('pet', { or: several(25, () => ({ not: { visits: {} } })), age: n }),
  },
  {
    name: '25 related conditions',
    request: (n) => find('pet', { or: several(25, (i) => ({ visits: { status: `s${n}${i}` } })) }),
  },
  { name: '50 patterns', request: (n) => find('pet', { or: likes(n, 50) }) },
  { name: '50 patterns, by socket', over: 'socket', request: (n) => find('pet', { or: likes(n, 50) }) },
  { name: '99 equalities', request: (n) => find('pet', { or: equalities(n, 99) }) },
  { name: '99 equalities, by socket', over: 'socket', request: (n) => find('pet', { or: equalities(n, 99) }) },
  {
    name: 'sort through associations',
    request: (n) =>
      find('visit', { cost: { '>=': n % 50 } }, '&sort=pet.note,pet.name,pet.kind,pet.age,status,note,cost'),
  },
  { name: 'sort without an index', request: () => find('pet', {}, '&sort=note') },
  { name: 'sort of 100,000 by foreign key', request: () => find('pet', { owner: owners.huge }, '&sort=note') },
  {
    name: 'filter of 100,000 by foreign key',
    request: membersOf,
  },
  { name: 'filter of 100,000 by foreign key, by socket', over: 'socket', request: membersOf },
  { name: 'a batch of 200 filters of 100,000 by foreign key', request: batchOf(membersOf) },
  { name: 'walks that find nothing', request: walk },
  { name: 'walks that find nothing, by socket', over: 'socket', request: walk },
  { name: 'a batch of 200 walks that find nothing', request: batchOf(walk) },
  { name: 'a batch of 200 patterns', request: batchOf((n) => find('pet', { or: likes(n, 5) })) },
  { name: 'range of the key, filtered', request: (n) => find('pet', { id: { '>': 5 }, age: -n }) },
  { name: 'count', request: (n) => find('pet', { age: { '>=': n % 20 } }, '&count=true&limit=1') },
  { name: 'count of all', request: () => ({ method: 'GET', path: '/visit?count=true&limit=1&populate=false' }) },
  {
    name: 'deep skip',
    request: (n) => ({ method: 'GET', path: `/pet?skip=${190_000 + (n % 100)}&limit=30&populate=false` }),
  },
  {
    name: '40 conditions in a populate',
    request: (n) => ({
      method: 'GET',
      path: `/owner/${owners.huge}?populate=${encodeURIComponent(JSON.stringify({ pets: { where: { or: equalities(n, 40) } } }))}`,
    }),
  },
  {
    name: 'populate sorted without an index',
    request: () => ({
      method: 'GET',
      path: `/owner/${owners.huge}?populate=${encodeURIComponent(JSON.stringify({ pets: { sort: 'note' } }))}`,
    }),
  },
  {
    name: 'pages of 1000',
    request: (n) => ({ method: 'GET', path: `/pet?limit=1000&skip=${n % 900}&populate=false` }),
  },
  { name: 'shapes that are always new', request: (n) => find('pet', shape(n, 4), n % 3 === 0 ? '&sort=age' : '') },
  { name: 'shapes that are always new, by socket', over: 'socket', request: (n) => find('pet', shape(n, 4)) },
  {
    name: 'shapes of few rows that then read many',
    request: (n) => {
      const shape = Math.floor(n / 24)
      const where = { owner: n % 24 < 8 ? 100 : owners.huge, or: several(10, (i) => shapeOfBits(shape, i)) }
      return find('pet', { ...where, note: { contains: `no ${n}` } }, '&sort=note')
    },
  },
  {
    name: 'many keys in shapes that are always new',
    request: (n) => find('pet', { or: several(95, (i) => ({ id: n * 95 + i, ...shapeOfBits(n, i) })) }),
  },
  { name: 'destroy an owner of 100,000', request: () => ({ method: 'DELETE', path: `/owner/${owners.huge}` }) },
  { name: 'replace 100,000 by none', request: () => ({ method: 'PUT', path: `/owner/${owners.huge}/pets`, body: [] }) },
  {
    name: 'destroy an owner of 9,000',
    request: (n) => ({ method: 'DELETE', path: `/owner/${owners.doomed[n % owners.doomed.length]}` }),
  },
]

/** One of two conditions, by a bit of the number. */
const shapeOfBits = (n: number, i: number) => ((n >> (i % 20)) % 2 === 0 ? { age: i } : { name: `x${i}` })

/** A condition tree whose structure depends on the number. */
function shape(n: number, depth: number): unknown {
  if (depth === 0 || n < 2)
    return [{ age: n % 7 }, { name: { contains: `x${n}` } }, { kind: { '!': `k${n}` } }, { visits: { cost: n % 9 } }][
      n % 4
    ]
  const parts = several(2 + (n % 3), (i) => shape(Math.floor(n / (2 + i)), depth - 1))
  return n % 5 === 0 ? { not: { and: parts } } : n % 2 === 0 ? { or: parts } : { and: parts }
}
