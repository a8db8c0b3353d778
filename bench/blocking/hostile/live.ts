import { newHandle, offsetText, readShapeRequest } from '../../../src/service/electric/shape-request.ts'
import { owners } from '../models.ts'
import { get, type Hostile, post, several } from './hostile.ts'

const queries = (count: number, make: (i: number) => object) =>
  Object.fromEntries(several(count, (i) => [`q${i}`, make(i)]))
const stream = { Accept: 'text/event-stream' }
const searches = (n: number, count: number, at: number) =>
  several(count, (i) => ({ note: { contains: `zz${n}.${at}.${i}` } }))
const longPattern = (text: string) => ({ like: `%${text}${'_'.repeat(900)}b%` })
const live = (count: number, make: (i: number) => object) => post('/live', { queries: queries(count, make) })

const shape = `table=wide&columns=${several(4000, (i) => i.toString(36).padStart(3, '_')).join()}`
const shapeHandle = newHandle(readShapeRequest(shape).shape)

/** Streams, live queries and subscriptions. */
export const hostileLive: readonly Hostile[] = [
  {
    name: '100 live queries of 1000',
    over: 'stream',
    request: (n) => live(100, (i) => ({ model: 'pet', limit: 1000, skip: n + i })),
  },
  {
    name: '100 live queries, populated',
    over: 'stream',
    request: (n) => live(100, (i) => ({ model: 'pet', skip: n * 7 + i, populate: ['owner', 'visits'] })),
  },
  {
    name: '100 live queries that scan',
    over: 'stream',
    request: (n) =>
      live(100, (i) => ({ model: 'pet', where: { note: { contains: `${n}x${i}` } }, sort: 'note', count: true })),
  },
  {
    name: 'live queries of 15 MB',
    over: 'stream',
    request: () => live(4, (i) => ({ model: 'document', limit: 1000 - i })),
  },
  {
    name: 'live queries resumed with 1000 keys',
    over: 'stream',
    request: (n, after) =>
      live(20, (i) => ({ model: 'pet', limit: 1000, skip: i, after, ids: several(1000, (k) => n + i + k) })),
  },
  {
    name: '100 live queries of 1000, by socket',
    over: 'socket',
    request: (n) => live(100, (i) => ({ model: 'pet', limit: 1000, skip: n + i })),
  },
  {
    name: 'a stream from an old position',
    over: 'stream',
    request: (_, position) => get('/pet', { ...stream, 'Last-Event-ID': position }),
  },
  {
    name: 'a filtered stream from an old position',
    over: 'stream',
    request: (n, position) =>
      get(`/pet?where={"name":{"like":"%25x${n}%25y%25"}}`, { ...stream, 'Last-Event-ID': position }),
  },
  {
    name: 'a shape from an old position',
    over: 'stream',
    request: () => get('/v1/shape?table=pet&offset=now&live=true&live_sse=true'),
  },
  {
    name: 'a shape of 4,000 columns from an old position',
    request: (n, position) =>
      n % 8 === 0
        ? post(
            '/wide?count=true',
            several(1000, (i) => ({ n1: i })),
          )
        : get(`/v1/shape?${shape}&live=true&handle=${shapeHandle}&offset=${offsetText({ position })}`),
  },
  {
    name: 'subscriptions to 1000 records',
    over: 'socket',
    request: (n) => get(`/pet?limit=1000&skip=${n % 900}&populate=false`),
  },
  {
    name: 'writes of 1 MB that streams match',
    request: (n) =>
      n % 2 === 0
        ? post('/owner?populate=false', { name: 'a'.repeat(900_000) })
        : get(`/owner?limit=1&where={"name":{"startsWith":"${'a'.repeat(900)}"}}`),
  },
  {
    name: '700 live queries that search, and writes of 1 MB',
    over: 'stream',
    request: (n) =>
      n % 8 === 0
        ? post('/owner?populate=false', { note: 'zz1'.repeat(300_000) })
        : live(100, (i) => ({ model: 'owner', limit: 1, where: { or: searches(n, 1, i) } })),
  },
  {
    name: 'live queries of long patterns, and lists of 45 kB texts',
    over: 'stream',
    request: (n) =>
      n % 8 > 0
        ? post(
            '/owner?populate=false',
            several(15, () => ({ note: 'zz'.repeat(22_500) })),
          )
        : live(10, (i) => ({
            model: 'owner',
            limit: 1,
            where: { or: several(50, (k) => ({ note: longPattern(`${n}.${i}.${k}`) })) },
          })),
  },
  {
    name: 'live queries sorted by texts of 900 kB',
    over: 'stream',
    request: (n) =>
      n % 4 > 0
        ? post('/owner?populate=false', { name: `zzz${'z'.repeat(900_000)}${n}` })
        : live(40, (i) => ({
            model: 'owner',
            limit: 14,
            sort: 'name DESC',
            select: ['id'],
            where: { id: { '>': i } },
          })),
  },
  {
    name: '700 windows of 1000, and a write that changes each',
    over: 'stream',
    request: (n) =>
      n % 8 === 0
        ? post('/visit?populate=false', { note: `n${n}` })
        : live(100, (i) => ({ model: 'visit', limit: 1000 - (n % 8), where: { cost: { '!=': i - 200 } } })),
  },
  {
    name: 'streams of 50 searches each, and lists of new records',
    over: 'stream',
    request: (n) =>
      n % 8 === 0
        ? post(
            '/visit?count=true',
            several(1000, (i) => ({ note: `zz${i}`.repeat(40) })),
          )
        : get(`/visit?where=${encodeURIComponent(JSON.stringify({ or: searches(n, 50, 0) }))}`, stream),
  },
  { name: 'lookups by socket', over: 'socket', request: (n) => get(`/owner/${owners.large + (n % 100)}`) },
]
