import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import * as packets from './packet.ts'
import { type Packet, parsePacket } from './packet.ts'

const message = (list: string, ack?: string, namespace = '/'): Packet => ({ kind: 'message', namespace, ack, list })

describe('a frame is read as', () => {
  const cases: readonly [name: string, frame: string, packet: Packet | undefined][] = [
    ['a question whether we are there', '2', { kind: 'ping', data: '' }],
    ['a question that wants its words back', '2probe', { kind: 'ping', data: 'probe' }],
    ['an answer to ours', '3', { kind: 'pong' }],
    ['an end', '1', { kind: 'close' }],
    ['nothing', '6', { kind: 'ignored' }],
    ['a connection', '40', { kind: 'connect', namespace: '/' }],
    ['a connection with credentials', '40{"token":"/x,"}', { kind: 'connect', namespace: '/' }],
    ['a connection elsewhere', '40/admin,', { kind: 'connect', namespace: '/admin' }],
    ['a connection elsewhere, as old clients say it', '40/admin?a=1', { kind: 'connect', namespace: '/admin' }],
    ['a connection with the query of an old client', '40/?a=1', { kind: 'connect', namespace: '/' }],
    ['a goodbye', '41', { kind: 'disconnect', namespace: '/' }],
    ['a goodbye elsewhere', '41/admin,', { kind: 'disconnect', namespace: '/admin' }],
    ['an event', '42["get",{}]', message('["get",{}]')],
    ['an event to be answered', '420["get",{}]', message('["get",{}]', '0')],
    ['an event with a long number', '42123456789012345["get"]', message('["get"]', '123456789012345')],
    ['an event elsewhere', '42/admin,7["get"]', message('["get"]', '7', '/admin')],
    ['an event that is no JSON, which is seen later', '42[', message('[')],
    ['an answer nobody asked for', '430[1]', { kind: 'ignored' }],
    ['nothing at all', '', undefined],
    ['an opening, which is for us to send', '0{}', undefined],
    ['a change of transport', '5', undefined],
    ['a number of its own', '9', undefined],
    ['a message without a type', '4', undefined],
    ['an error', '44"no"', undefined],
    ['a binary event', '451-["get",{"_placeholder":true,"num":0}]', undefined],
    ['a binary answer', '461-0[]', undefined],
    ['binary data as text', 'b4AAEC', undefined],
    ['an event without a list', '42', undefined],
    ['an event that is no list', '42{"get":1}', undefined],
    ['an event in an unfinished namespace', '42/admin["get"]', undefined],
    ['an event with a number that no client counts to', '421234567890123456["get"]', undefined],
    ['an event with a negative number', '42-1["get"]', undefined],
  ]
  for (const [name, frame, packet] of cases) {
    test(`${name}: ${frame}`, () => assert.deepEqual(parsePacket(frame), packet))
  }
})

test('whatever comes, reading it ends', () => {
  const pieces = fc.constantFrom(
    '0',
    '1',
    '2',
    '3',
    '4',
    '5',
    '6',
    '/',
    ',',
    '?',
    '[',
    ']',
    '"get"',
    '{}',
    '-',
    '😀',
    '\0',
  )
  const frames = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(pieces).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(frames, (frame) => {
      const packet = parsePacket(frame)
      if (packet?.kind !== 'message') return
      assert.ok(packet.list.startsWith('['))
      assert.ok(frame.startsWith('42') && frame.endsWith(packet.list))
    }),
    { numRuns: 2000 },
  )
})

test('what a client sends as an event is read as that event', () => {
  const events = fc.tuple(fc.option(fc.nat(), { nil: undefined }), fc.array(fc.json()))
  fc.assert(
    fc.property(events, ([ack, list]) => {
      const text = `[${list.join(',')}]`
      assert.deepEqual(parsePacket(`42${ack ?? ''}${text}`), message(text, ack?.toString()))
    }),
  )
})

test('packets are written as clients of either generation read them', () => {
  const opening = { sid: 'x', pingInterval: 1, pingTimeout: 2, maxPayload: 3 }
  const { upgrades, ...rest } = JSON.parse(packets.openPacket(opening).slice(1))
  assert.deepEqual(upgrades, [])
  assert.deepEqual(rest, opening)
  assert.equal(packets.connectPacket(3, 'x'), '40')
  assert.equal(packets.connectPacket(4, 'x'), '40{"sid":"x"}')
  assert.equal(packets.refusalPacket(3, '/a'), '44/a,"Invalid namespace"')
  assert.equal(packets.refusalPacket(4, '/a'), '44/a,{"message":"Invalid namespace"}')
  assert.equal(packets.answerPacket('12', '{"a":1}'), '4312[{"a":1}]')
  assert.equal(packets.eventPacket('a"b', '{"a":1}'), '42["a\\"b",{"a":1}]')
  assert.equal(packets.pongPacket('probe'), '3probe')
})
