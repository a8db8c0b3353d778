import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { ask, Command, folder, petShop } from '../../../test/support/command.ts'
import { HttpConnection } from '../../../test/support/http-connection.ts'

const skip = process.platform === 'win32' ? 'without SIGSTOP' : false

test('a connection that a worker has not received when it is killed is closed', { skip, timeout: 30_000 }, async () => {
  const command = new Command(['start', '--port', '0', '--workers', '2', '--json'], { cwd: folder(petShop) })
  await command.until(/"event":"ready"/)
  const { url, port } = command.events[0] as { url: string; port: number }
  const [worker] = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(command.pid)], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => (/ worker\b/.test(line) ? Number.parseInt(line, 10) : []))
  assert.ok(worker)
  process.kill(worker, 'SIGSTOP')
  const connections = Array.from({ length: 10 }, () => new HttpConnection(port))
  for (const connection of connections) connection.write('GET /pet HTTP/1.1', 'Host: localhost', '', '')
  const answered = connections.map((connection) => connection.until(/200 OK/).catch(() => undefined))
  await Promise.race(answered)
  process.kill(worker, 'SIGKILL')
  await Promise.all(connections.map(({ closed }, index) => Promise.race([closed, answered[index]])))
  await ask(`${url}/pet`, { headers: { connection: 'close' } })
  for (const { socket } of connections) socket.destroy()
  command.kill('SIGTERM')
  assert.equal((await command.ended).code, 0)
})
