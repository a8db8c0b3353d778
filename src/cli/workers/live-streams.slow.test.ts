import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command, folder, petShop } from '../../../test/support/command.ts'
import { LiveTestClient } from '../../../test/support/live-client.ts'

test('a request that changes a stream reaches the worker that has it, and others refuse', async () => {
  const command = new Command(['start', '--port', '0', '--workers', '3', '--json'], { cwd: folder(petShop) })
  await command.until(/"event":"ready"/)
  const url = String(command.events[0]?.url)
  // Every request has a connection of its own, so that it arrives at another worker than the one before.
  const post = (path: string, body: object) =>
    fetch(url + path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', Connection: 'close' },
    })
  const clients = await Promise.all([1, 2, 3].map(() => LiveTestClient.open(url, {})))
  assert.equal(new Set(clients.map(({ stream }) => stream.split('.')[0])).size, 3)
  for (const [index, client] of clients.entries()) {
    for (let number = 0; number < 4; number++) {
      const answer = await post('/live', {
        stream: client.stream,
        add: { [`q${number}`]: { model: 'pet', limit: 5 + index } },
      })
      assert.equal(answer.status, 200, await answer.text())
    }
    await client.until(() => client.held.size === 4)
  }
  const created = await post('/pet', { name: 'Réx' })
  const token = created.headers.get('keelson-operation') ?? assert.fail()
  for (const client of clients) {
    await client.until(() => client.operations.has(token))
    assert.deepEqual(
      client.rows('q0')?.map(({ name }) => name),
      ['Réx'],
    )
  }
  const [one] = clients as [LiveTestClient]
  const worker = one.stream.split('.')[0]
  for (const stream of [`${worker}.unknown`, 'unknown', ''])
    assert.equal((await post('/live', { stream, add: {} })).status, 404)
  await Promise.all(clients.map((client) => client.close()))
  command.kill('SIGTERM')
  assert.deepEqual(await command.ended.then(({ code, stderr }) => ({ code, stderr })), { code: 0, stderr: '' })
})
