import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../src/protocol/json.ts'
import { Command, folder, petShop, post } from '../support/command.ts'
import { StreamClient } from '../support/event-stream.ts'
import { SailsClient } from '../support/sails-client.ts'
import { asOtherProgram } from '../support/sqlite.ts'

/*
 * Clients that stay subscribed while one process stops and another replaces it, on the same port and database.
 */

const cwd = folder(petShop)
const file = join(cwd, 'shop.db')
const start = (port: number) => new Command(['start', '--port', String(port), '--database', `sqlite:${file}`], { cwd })

test('clients continue with the next process where they were', async (t) => {
  const first = start(0)
  const url = await first.url()
  const port = Number(new URL(url).port)
  const { id } = await post(`${url}/pet`, { name: 'Rex' })
  const stream = await StreamClient.ready(port, '/pet')
  const client = await SailsClient.connect(url, {
    reconnection: true,
    reconnectionDelay: 10,
    reconnectionDelayMax: 100,
  })
  // After a failure it would try to reconnect for ever.
  t.after(() => client.close())
  const isBack = new Promise((resolve) => client.socket.on('reconnect', resolve))
  await client.ask('get', '/pet')
  await post(`${url}/pet`, { name: 'before' })
  assert.deepEqual(await client.until((_, { verb }) => verb === 'created'), [])
  assert.equal((await stream.next()).event, 'created')

  first.kill('SIGTERM')
  assert.equal((await first.ended).code, 0)
  const received = await stream.rest()
  assert.deepEqual(
    received.map(({ event }) => event),
    ['restart'],
  )
  asOtherProgram(file, `update pet set name = 'meanwhile' where id = ${id}`)

  const second = start(port)
  await second.url()
  const resumed = await StreamClient.ready(port, '/pet', { 'last-event-id': stream.arrivedId })
  await isBack
  await client.ask('get', '/pet')
  await post(`${url}/pet`, { name: 'after' })
  assert.deepEqual(
    (await resumed.take(2)).map(({ data }) => (data as JsonObject).name),
    ['meanwhile', 'after'],
  )
  assert.deepEqual(await client.until((_, { verb }) => verb === 'created'), [])
  await resumed.close()
  second.kill('SIGTERM')
  assert.equal((await second.ended).code, 0)
})
