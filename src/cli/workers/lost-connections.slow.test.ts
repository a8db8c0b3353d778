import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { ask, Command, folder, petShop } from '../../../test/support/command.ts'
import { HttpConnection } from '../../../test/support/http-connection.ts'

async function start(files: Readonly<Record<string, string>>, node?: string) {
  const cwd = folder({ ...petShop, ...files })
  if (node !== undefined) chmodSync(join(cwd, node), 0o755)
  const args = ['start', '--port', '0', '--workers', '2', '--json']
  const command = new Command(args, { cwd, ...(node !== undefined && { node: join(cwd, node) }) })
  await command.until(/"event":"ready"/)
  const { url, port } = command.events[0] as { url: string; port: number }
  return { command, url, port }
}

/** New connections are distributed to the workers in turn. Those that were closed may still count. */
async function everyWorkerServes(url: string): Promise<void> {
  for (let served = 0; served < 4; )
    served = await ask(`${url}/pet`, { headers: { connection: 'close' } }).then(
      () => served + 1,
      () => 0,
    )
}

const limited = `#!/bin/sh\nulimit -n 80\nexec ${JSON.stringify(process.execPath)} "$@"\n`
const skip = process.platform === 'win32' ? 'without ulimit' : false

describe('more connections than the workers can have', () => {
  test('without file descriptors, further ones are closed, and new ones are served when some are free', {
    skip,
  }, async () => {
    const { command, url, port } = await start({ 'limited.sh': limited }, 'limited.sh')
    const connections = Array.from({ length: 200 }, () => new HttpConnection(port))
    // On a busy machine the parent may lack them before a worker does, which reports nothing.
    await Promise.race([command.until(/No file descriptors are left/).catch(() => {}), delay(5_000)])
    for (const { socket } of connections) socket.destroy()
    await everyWorkerServes(url)
    command.kill('SIGTERM')
    assert.equal((await command.ended).code, 0)
  })

  test('above maxConnections of all workers, further ones are closed', async () => {
    const config = petShop['keelson.config.ts'].replace('models:', 'limits: { maxConnections: 4 }, models:')
    const { command, url, port } = await start({ 'keelson.config.ts': config })
    const connections = Array.from({ length: 20 }, () => new HttpConnection(port))
    for (const connection of connections) connection.write('GET /pet HTTP/1.1', 'Host: localhost', '', '')
    const answered = connections.map((connection) =>
      connection.until(/200 OK/).then(
        () => 1,
        () => 0,
      ),
    )
    const served = (await Promise.all(answered)).reduce((sum: number, one) => sum + one, 0)
    assert.ok(served >= 4 && served <= 8, `${served} are served`)
    for (const { socket } of connections) socket.destroy()
    await everyWorkerServes(url)
    command.kill('SIGTERM')
    assert.equal((await command.ended).code, 0)
  })
})
