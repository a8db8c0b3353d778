import { rows } from '../models.ts'
import { find, get, type Hostile, type HostileRequest, patch, post, several } from './hostile.ts'

const megabyte = 'long words '.repeat(95_000)

const write = (path: string, body: object): HostileRequest => ({
  method: 'PATCH',
  path: `/${path}?populate=false`,
  body,
})

/** The number of records that get long texts before they are read. */
const largeRecords = 16
const large = (read: (id: number) => HostileRequest) => (n: number) => {
  const id = 1 + (n % largeRecords)
  if (n < largeRecords) return write(`document/${id}`, { text: megabyte.slice(0, 1_000_000) })
  if (n < 2 * largeRecords) return write(`document/${id}`, { data: megabyte.slice(0, 1_000_000) })
  return n < 3 * largeRecords ? write(`owner/${99 + id}`, { note: megabyte }) : read(id)
}

/** Values of JSON that take long to compare, because their members are not in order. */
const unordered = several(29_000, (i) => ({ b: i % 10, a: 1 }))
const sameJson = (id: number, text: string): HostileRequest => ({
  method: 'GET',
  path: '/document',
  body: { where: { id, data: text }, select: ['title'], populate: false },
})

/** Writes beside which a record has values of 1 MB. */
export const hostileLongValues: readonly Hostile[] = [
  {
    name: 'a record of 1 MB, changed by 30 patterns',
    request: (n) => {
      if (n === 0) return post('/document?populate=false', { title: 'by pattern', text: megabyte })
      const unmatched = several(29, (i) => ({ text: { like: `%w%d%x${n}.${i}` } }))
      return patch('document', { title: 'by pattern', or: [...unmatched, { id: { '>': 0 } }] }, { data: n })
    },
  },
  {
    name: 'a record of 2 MB, changed a little',
    request: (n) => {
      const body = n === 0 ? { text: megabyte } : n === 1 ? { data: megabyte } : { title: `t${n}` }
      return { method: 'PATCH', path: `/document/${rows.document}?populate=false`, body }
    },
  },
  {
    name: 'a batch that writes and then sorts',
    request: (n) =>
      post('/batch', [
        { method: 'PATCH', url: `/visit/${1 + n}?populate=false`, body: { cost: n } },
        { method: 'GET', url: `/wide?populate=false&limit=1000&sort=t${n % 20}&where={"n1":{"!=":${n}}}` },
      ]),
  },
  { name: 'records of 2 MB', request: large((id) => get(`/document/${id}?populate=false`)) },
  {
    name: 'records of 2 MB, by socket',
    over: 'socket',
    request: large((id) => get(`/document/${id}?populate=false`)),
  },
  {
    name: 'a record of 1 MB, by a pattern of 800 characters',
    request: large((id) => find('document', { id, text: { like: `%${'_w'.repeat(400)}${id}%` } })),
  },
  {
    name: 'a JSON value of 29,000 objects, compared',
    request: (n) =>
      n === 0 ? write(`document/${rows.document - 1}`, { data: unordered }) : sameJson(rows.document - 1, `[${n}]`),
  },
  {
    name: 'records of 1 MB, sorted without an index',
    request: (n) =>
      n < 20
        ? write(`document/${900 + n}`, { text: megabyte.slice(0, 1_000_000) })
        : get(`/document?populate=false&limit=${1 + (n % 9)}&sort=createdAt%20DESC`),
  },
  {
    name: 'a condition that is a JSON value of 29,000 objects',
    request: (n) => sameJson(1 + (n % 900), JSON.stringify(unordered)),
  },
  {
    name: 'embedded records of 1 MB, sorted without an index',
    request: (n) =>
      n < 100
        ? write(`pet/${151_000 + n}`, { note: megabyte.slice(0, 1_000_000), owner: 201 })
        : get(`/owner/201?populate=${encodeURIComponent(`{"pets":{"sort":"name DESC","limit":${900 + (n % 100)}}}`)}`),
  },
  {
    name: 'a record with 14 members of 1 MB',
    request: (n) =>
      n < largeRecords
        ? write(`pet/${150_000 + n}`, { note: megabyte.slice(0, 1_000_000), owner: 200 })
        : get(`/owner/200?populate=${encodeURIComponent(`{"pets":{"sort":"note DESC","limit":${14 - (n % 3)}}}`)}`),
  },
  { name: 'members of a record of 1 MB', request: large((id) => get(`/owner/${99 + id}/pets?limit=1&populate=false`)) },
]
