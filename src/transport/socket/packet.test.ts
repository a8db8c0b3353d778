import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../../test/support/any-character.ts'
import { defaultLimits } from '../../support/limits.ts'
import * as packets from './packet.ts'
import { type EnginePacket, type Packet, parseEnginePacket, parsePacket } from './packet.ts'

const event = (list: string, ack?: string, namespace = '/'): Packet => ({ kind: 'event', namespace, ack, list })

describe('an Engine.IO packet is parsed as', () => {
  const cases: readonly [name: string, text: string, packet: EnginePacket | undefined][] = [
    ['a close', '1', { kind: 'close' }],
    ['a ping', '2', { kind: 'ping', data: '' }],
    ['a ping with data', '2probe', { kind: 'ping', data: 'probe' }],
    ['a pong', '3', { kind: 'ignored' }],
    ['a message', '42["get",{}]', { kind: 'message', packet: event('["get",{}]') }],
    ['a noop', '6', { kind: 'ignored' }],
    ['an empty text', '', undefined],
    ['an open, which only servers send', '0{}', undefined],
    ['an upgrade', '5', undefined],
    ['an unknown packet type', '9', undefined],
    ['a message without a packet', '4', undefined],
    ['a message with an invalid packet', '44"no"', undefined],
    ['binary data as text', 'b4AAEC', undefined],
  ]
  for (const [name, text, packet] of cases) {
    test(`${name}: ${text}`, () => assert.deepEqual(parseEnginePacket(text), packet))
  }
})

describe('a Socket.IO packet is parsed as', () => {
  const cases: readonly [name: string, text: string, packet: Packet | undefined][] = [
    ['a connect', '0', { kind: 'connect', namespace: '/' }],
    ['a connect with credentials', '0{"token":"/x,"}', { kind: 'connect', namespace: '/' }],
    ['a connect to a namespace', '0/admin,', { kind: 'connect', namespace: '/admin' }],
    ['a connect to a namespace with a query string', '0/admin?a=1', { kind: 'connect', namespace: '/admin' }],
    ['a connect with a query string', '0/?a=1', { kind: 'connect', namespace: '/' }],
    ['a disconnect', '1', { kind: 'disconnect', namespace: '/' }],
    ['a disconnect from a namespace', '1/admin,', { kind: 'disconnect', namespace: '/admin' }],
    ['an event', '2["get",{}]', event('["get",{}]')],
    ['an event with an acknowledgement id', '20["get",{}]', event('["get",{}]', '0')],
    ['an event with a long acknowledgement id', '2123456789012345["get"]', event('["get"]', '123456789012345')],
    ['an event in a namespace', '2/admin,7["get"]', event('["get"]', '7', '/admin')],
    ['an event whose JSON is invalid, which is checked later', '2[', event('[')],
    ['an acknowledgement', '30[1]', { kind: 'ignored' }],
    ['an empty text', '', undefined],
    ['a connect error', '4"no"', undefined],
    ['a binary event', '51-["get",{"_placeholder":true,"num":0}]', undefined],
    ['a binary acknowledgement', '61-0[]', undefined],
    ['an event without a list', '2', undefined],
    ['an event whose data is not a list', '2{"get":1}', undefined],
    ['an event with an incomplete namespace', '2/admin["get"]', undefined],
    ['an event with an acknowledgement id of 16 digits', '21234567890123456["get"]', undefined],
    ['an event with a negative acknowledgement id', '2-1["get"]', undefined],
  ]
  for (const [name, text, packet] of cases) {
    test(`${name}: ${text}`, () => assert.deepEqual(parsePacket(text), packet))
  }
})

test('any text is parsed or rejected', () => {
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
    fc.string({ unit: anyCharacter }),
    fc.array(pieces).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(frames, (frame) => {
      const received = parseEnginePacket(frame)
      if (received?.kind !== 'message' || received.packet.kind !== 'event') return
      const { list } = received.packet
      assert.ok(list.startsWith('['))
      assert.ok(frame.startsWith('42') && frame.endsWith(list))
    }),
    { numRuns: 2000 },
  )
})

test('an encoded event is parsed as that event', () => {
  const events = fc.tuple(fc.option(fc.nat(), { nil: undefined }), fc.array(fc.json()))
  fc.assert(
    fc.property(events, ([ack, list]) => {
      const text = `[${list.join(',')}]`
      assert.deepEqual(parsePacket(`2${ack ?? ''}${text}`), event(text, ack?.toString()))
    }),
  )
})

test('packets are encoded for both protocol versions', () => {
  const limits = { ...defaultLimits, pingIntervalMs: 1, pingTimeoutMs: 2, maxMessageBytes: 3 }
  assert.equal(
    packets.openPacket('x', limits),
    '0{"sid":"x","upgrades":[],"pingInterval":1,"pingTimeout":2,"maxPayload":3}',
  )
  assert.equal(packets.connectPacket(3, 'x'), '0')
  assert.equal(packets.connectPacket(4, 'x'), '0{"sid":"x"}')
  assert.equal(packets.connectErrorPacket(3, '/a', 'No'), '4/a,"No"')
  assert.equal(packets.connectErrorPacket(4, '/a', 'No'), '4/a,{"message":"No"}')
  assert.equal(packets.connectErrorPacket(3, '/', 'No', { status: 401 }), '4"No"')
  assert.equal(packets.connectErrorPacket(4, '/', 'No', { status: 401 }), '4{"message":"No","data":{"status":401}}')
  assert.equal(packets.ackPacket('12', '{"a":1}'), '312[{"a":1}]')
  assert.equal(packets.eventPacket('a"b', '{"a":1}'), '2["a\\"b",{"a":1}]')
  assert.equal(packets.messagePacket('0'), '40')
  assert.equal(packets.pongPacket('probe'), '3probe')
})
