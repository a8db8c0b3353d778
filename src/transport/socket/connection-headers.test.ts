import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectionHeaders } from './connection-headers.ts'

test('requests have the headers of the handshake that describe the client, not those of the handshake itself', () => {
  const client = {
    host: 'pets.example',
    origin: 'http://pets.example',
    authorization: 'Bearer x',
    'x-forwarded-for': '10.0.0.1',
    'user-agent': 'test',
  }
  const handshake = {
    ...client,
    cookie: 'sid=1',
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': 'x',
    'sec-fetch-site': 'cross-site',
    'sec-purpose': 'prefetch',
    accept: 'text/html',
    'cache-control': 'no-cache',
    'if-match': '"x"',
  }
  assert.deepEqual(connectionHeaders(handshake, false), client)
  assert.deepEqual(connectionHeaders(handshake, true), { ...client, cookie: 'sid=1' })
})
