import { owners } from '../models.ts'
import { type Hostile, patch, post, several } from './hostile.ts'

const created = (n: number) => several(10_000, (i) => ({ note: `${n}.${i}` }))
/** Visits of pets far apart, so that each changes another page of the index. */
const scattered = () => several(10_000, (i) => ({ pet: 1 + ((i * 7919) % 200_000) }))

/** Writes of many records at once, and the newer ways to write. */
export const hostileWrites: readonly Hostile[] = [
  { name: 'a list of 10,000 new records', request: (n) => post('/visit?populate=false', created(n)) },
  { name: 'a list of 10,000 new records, counted', request: (n) => post('/visit?count=true', created(n)) },
  { name: 'a list of 10,000 new records of others', request: () => post('/visit?populate=false', scattered()) },
  {
    name: 'a list of 10,000 invalid records',
    request: () =>
      post(
        '/visit',
        several(10_000, () => ({ cost: 'x' })),
      ),
  },
  {
    name: 'a list of 90,000 empty records',
    request: () =>
      post(
        '/visit',
        several(90_000, () => ({})),
      ),
  },
  {
    name: '9,000 changed by a condition',
    request: (n) => patch('pet', { owner: owners.large }, { age: n }, '&populate=false'),
  },
  { name: '9,000 changed and populated', request: (n) => patch('pet', { owner: owners.large }, { age: n }) },
  {
    name: '9,000 changed and counted',
    request: (n) => patch('pet', { owner: owners.large }, { age: n }, '&count=true'),
  },
  {
    name: '2,000 of 60 attributes changed',
    request: (n) => patch('wide', { id: { '>': 0 } }, { n1: n }, '&count=true'),
  },
  {
    name: 'a batch that writes and then scans',
    request: (n) =>
      post('/batch', [
        { method: 'PATCH', url: `/visit/${1 + n}?populate=false`, body: { cost: n } },
        { method: 'GET', url: `/pet?populate=false&where={"note":{"contains":"x${n}"}}` },
      ]),
  },
  {
    name: 'a batch that scans and then writes',
    request: (n) =>
      post('/batch', [
        { method: 'GET', url: `/pet?populate=false&where={"note":{"contains":"x${n}"}}` },
        { method: 'PATCH', url: `/visit/${1 + n}?populate=false`, body: { cost: n } },
      ]),
  },
  { name: '1,000 documents changed', request: (n) => patch('document', { id: { '>': 0 } }, { title: `t${n}` }) },
  {
    name: '1,000 documents changed by 10 patterns',
    request: (n) => {
      const unmatched = several(10, (i) => ({ text: { like: `%w%d%x${n}.${i}` } }))
      return patch('document', { or: [...unmatched, { id: { '>': 0 } }] }, { title: `t${n}` }, '&count=true')
    },
  },
  {
    name: 'records of 1 MB, changed together',
    request: (n) =>
      n < 14
        ? post('/owner?populate=false', { city: 'large', note: 'x'.repeat(1_000_000) })
        : patch('owner', { city: 'large' }, { name: `n${n}` }, '&count=true'),
  },
  {
    name: 'a condition that nothing matches',
    request: (n) => patch('pet', { note: { contains: `x${n}` } }, { age: n }),
  },
  {
    name: '3,000 destroyed by a condition',
    request: (n) => ({ method: 'DELETE', path: `/visit?where={"cost":${n % 100}}&populate=false` }),
  },
  {
    name: 'an owner with 1,000 new pets',
    request: (n) => post('/owner', { name: `n${n}`, pets: several(1000, (i) => ({ name: `p${i}` })) }),
  },
  {
    name: 'an owner with 1,000 invalid pets',
    request: (n) => post('/owner', { name: `n${n}`, pets: several(1000, () => ({ age: 'x' })) }),
  },
  {
    name: '1,000 members set',
    request: (n) => ({
      method: 'PUT',
      path: `/owner/${5 + (n % 3)}/pets`,
      body: several(1000, (i) => 150_000 + ((n * 1000 + i) % 30_000)),
    }),
  },
  {
    name: 'upserts of 1 MB',
    request: (n) => post('/owner?upsert=code&populate=false', { code: `u${n % 4}`, note: 'x'.repeat(1_000_000) }),
  },
  {
    name: 'a batch of 200 lists',
    request: (n) =>
      post(
        '/batch',
        several(200, (i) => ({
          method: 'POST',
          url: '/visit?populate=false',
          body: several(49, () => ({ cost: n + i })),
        })),
      ),
  },
  {
    name: 'a batch of 200 changes by condition',
    request: (n) =>
      post(
        '/batch',
        several(200, (i) => ({ method: 'PATCH', url: `/pet?where={"owner":${100 + i}}`, body: { age: n } })),
      ),
  },
  {
    name: 'a batch of 200 references',
    request: (n) =>
      post('/batch', [
        { method: 'POST', url: '/owner', body: { name: `b${n}` } },
        ...several(199, () => ({ method: 'POST', url: '/pet', body: { owner: { $ref: '0.id' } } })),
      ]),
  },
  {
    name: 'a batch that names one value 25,000 times',
    request: () =>
      post('/batch', [
        { method: 'POST', url: '/document', body: { data: 'x'.repeat(400_000) } },
        { method: 'POST', url: '/document', body: { data: several(25_000, () => ({ $ref: '0.data' })) } },
      ]),
  },
  {
    name: 'batches of the same rows in other orders',
    request: (n) => {
      const rows = several(20, (i) => ({ method: 'PATCH', url: `/pet/${1000 + i}?populate=false`, body: { age: n } }))
      return post('/batch', n % 2 === 0 ? rows : rows.toReversed())
    },
  },
  {
    name: 'writes of a row that a batch holds',
    request: (n) =>
      n % 8 > 0
        ? { method: 'PATCH', path: '/pet/1000?populate=false', body: { age: n } }
        : post('/batch', [
            { method: 'PATCH', url: '/pet/1000?populate=false', body: { age: n } },
            ...several(20, (i) => ({ method: 'GET', url: `/pet?where={"note":{"contains":"x${n}${i}"}}` })),
          ]),
  },
  { name: 'actions', request: (n) => post(`/pet/${1000 + (n % 1000)}/rename`, undefined) },
  {
    name: 'repeats of an answer of 1 MB',
    request: (n) =>
      post('/owner', { name: 'x', note: 'y'.repeat(1_000_000) }, { 'Idempotency-Key': `k${Math.floor(n / 100)}` }),
  },
  {
    name: 'repeats of an answer of 9,000 records',
    request: (n) => ({
      ...patch('pet', { owner: owners.large }, { age: 1 }, '&populate=false'),
      headers: { 'Idempotency-Key': `m${Math.floor(n / 50)}` },
    }),
  },
  {
    name: 'repeats of a batch with an answer of 15 MB',
    request: (n) =>
      post(
        '/batch',
        [
          { method: 'PATCH', url: '/visit/1?populate=false', body: { cost: 1 } },
          { method: 'GET', url: '/document?limit=1000&populate=false' },
        ],
        { 'Idempotency-Key': `b${Math.floor(n / 50)}` },
      ),
  },
  {
    name: 'records that grow to 2 MB and more',
    request: (n) => ({
      method: 'PATCH',
      path: `/document/${1 + (n % 4)}?populate=false`,
      body: { [['title', 'text', 'data'][Math.floor(n / 4) % 3] as string]: `${n}`.repeat(150_000) },
    }),
  },
  {
    name: '1 MB of text written',
    request: (n) => post('/owner?populate=false', { note: `${n}${'aé"'.repeat(200_000)}` }),
  },
]
