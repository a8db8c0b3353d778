import { newHandle, offsetText, readShapeRequest } from '../../../src/service/electric/shape-request.ts'
import { find, get, type Hostile, type HostileRequest, several } from './hostile.ts'

const lookup = (n: number): string => `/pet/${1 + (n % 1000)}?populate=false`
const asked = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`
const handshake =
  'GET /socket.io/?EIO=3&transport=websocket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
/** A short WebSocket frame of a client, with a mask of zeros. */
const frame = (text: string): string => `\x81${String.fromCharCode(0x80 | text.length)}\0\0\0\0${text}`
const written = (text: string, then?: string): HostileRequest => ({
  ...get(''),
  text,
  ...(then !== undefined && { then }),
})

const list = JSON.stringify(several(50, (i) => ({ status: `s${i}` })))
const created = (text: string): string =>
  `POST /visit?count=true HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`
const emptyRecords = JSON.stringify(several(330, () => ({})))
const createdThenStreamed = `${created(list)}GET /visit HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`

const shape = 'table=visit'
const shapeHandle = newHandle(readShapeRequest(shape).shape)
const short = JSON.stringify(several(20, (i) => ({ status: `s${i}` })))

function streamOf(queries: Readonly<Record<string, object>>): string {
  const body = JSON.stringify({ queries })
  return (
    'POST /live HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\n' +
    `Content-Length: ${body.length}\r\n\r\n${body}`
  )
}

/** 100 queries; `ageAt`: what each compares. */
const hundred = (ageAt: (index: number) => number): Readonly<Record<string, object>> =>
  Object.fromEntries(
    several(100, (i) => [
      `q${i}`,
      { model: 'pet', where: { age: ageAt(i) }, sort: 'id', limit: 5 + (i % 5), populate: false },
    ]),
  )
const equalStream = streamOf(hundred((index) => index % 20))
const longList = { model: 'visit', where: { cost: { '>=': 0 } }, sort: 'id', limit: 1000, populate: false }

/** The number of connections that send at once. It is not above the number that may wait until the service accepts them. */
const connections = 500

export const hostileCrowds: readonly Hostile[] = [
  { name: 'lookups of 500 connections', over: 'bytes', connections, request: (n) => written(asked(lookup(n))) },
  { name: 'handshakes of 500 sockets', over: 'bytes', connections, request: () => written(handshake) },
  {
    name: 'lookups of 500 sockets',
    over: 'bytes',
    connections,
    request: (n) => written(handshake, frame(`421["get",{"url":"${lookup(n)}"}]`)),
  },
  {
    name: 'one page of 1000 for 500 sockets',
    over: 'bytes',
    connections,
    request: () =>
      written(handshake, frame('421["get",{"url":"/visit?sort=cost&limit=1000&populate=false"}]').repeat(4)),
  },
  {
    name: '500 sessions of long polling',
    over: 'bytes',
    connections,
    request: () => written(asked('/socket.io/?EIO=3&transport=polling')),
  },
  {
    name: '500 streams, and a list of new records from each',
    over: 'bytes',
    connections,
    request: () => written(createdThenStreamed),
  },
  {
    name: 'lists of 330 empty records from 500 connections',
    over: 'bytes',
    connections,
    request: () => written(created(emptyRecords)),
  },
  {
    name: '300 streams of 100 live queries, whose clients leave',
    over: 'bytes',
    connections: 300,
    leavesAfterMs: 200,
    request: () => written(equalStream),
  },
  {
    name: '300 streams of 100 other live queries each, whose clients leave',
    over: 'bytes',
    connections: 300,
    leavesAfterMs: 200,
    request: (n) => written(streamOf(hundred((index) => n * 100 + index))),
  },
  {
    name: '500 streams of one list of 1000',
    over: 'bytes',
    connections,
    request: () => written(streamOf({ list: longList })),
  },
  {
    name: '500 streams that resume one list of 1000',
    over: 'bytes',
    connections,
    resumes: streamOf({ list: longList }),
    request: (_, after) => written(streamOf({ list: { ...longList, after, ids: several(1000, (i) => i + 1) } })),
  },
  {
    name: '500 shapes from an old position',
    over: 'bytes',
    connections,
    request: (_, position) =>
      written(
        created(short),
        asked(`/v1/shape?${shape}&live=true&handle=${shapeHandle}&offset=${offsetText({ position })}`),
      ),
  },
  {
    name: 'scans whose clients leave',
    over: 'bytes',
    leavesAfterMs: 20,
    request: (n) => written(asked(find('pet', { note: { contains: `zz${n}` } }).path)),
  },
  {
    name: 'pings of 20 sockets',
    over: 'bytes',
    connections: 20,
    request: () => written(handshake, frame('2').repeat(9_000)),
  },
  {
    name: 'pings of 500 sockets, 4 kB from each',
    over: 'bytes',
    connections,
    request: () => written(handshake, frame('2').repeat(580)),
  },
  {
    name: 'conditions of 14 kB from 500 connections',
    over: 'bytes',
    connections,
    request: (n) => written(asked(find('pet', { or: several(290, (i) => ({ age: n * 1000 + i + 0.5 })) }).path)),
  },
  {
    name: '1,000 parameters from 500 connections',
    over: 'bytes',
    connections,
    request: (n) => written(asked(`/pet?limit=1&${several(990, (i) => `a${n}x${i}=1`).join('&')}`)),
  },
  {
    name: '3,500 entity tags from 500 connections',
    over: 'bytes',
    connections,
    request: (n) => written(asked(lookup(n), `If-None-Match: ${'"a",'.repeat(3_500)}\r\n`)),
  },
  {
    name: '3,900 columns of a shape from 500 connections',
    over: 'bytes',
    connections,
    request: (n) =>
      written(
        asked(
          `/v1/shape?table=wide&offset=now&columns=${several(3900, (i) => ((i + n) % 46_656).toString(36)).join()}`,
        ),
      ),
  },
  {
    name: '1,900 headers of an invalid request from 500 connections',
    over: 'bytes',
    connections,
    request: (n) => written(asked(lookup(n), `${several(1900, (i) => `a${i}:\r\n`).join('')}Content-Length: x\r\n`)),
  },
  {
    name: 'the landing page for 500 connections',
    over: 'bytes',
    connections,
    request: () => written(asked('/', 'Accept: text/html\r\n')),
  },
]
