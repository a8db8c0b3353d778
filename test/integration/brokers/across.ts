import assert from 'node:assert/strict'
import { join } from 'node:path'
import { Command, type CommandOptions } from '../../support/command.ts'
import { LiveTestClient } from '../../support/live-client.ts'

type Env = NonNullable<CommandOptions['env']>

const config = join(import.meta.dirname, 'keelson.config.ts')

/** The service of the configuration beside this file, as a process of its own. */
export const serve = (database: string, env: Env = {}): Command =>
  new Command(['start', '--config', config, '--port', '0', '--database', database], { env })

/**
 * Each of two services tells its live client, which has a query of each kind, of what is written at the other. Returns what
 * they have printed.
 */
export async function writeAcross(database: string, env: Env): Promise<string> {
  const first = serve(database, env)
  const second = serve(database, env)
  const commands = [first, second]
  const urls = [await first.url(), await second.url()] as const
  const clients: LiveTestClient[] = []
  for (const url of urls)
    clients.push(
      await LiveTestClient.open(url, {
        local: { model: 'pet', where: { name: { startsWith: 'R' } } },
        window: { model: 'pet', sort: 'name', limit: 3, populate: ['owner'] },
      }),
    )
  for (const client of clients) await client.until(() => client.held.size === 2)
  for (let round = 0; round < 6; round++) {
    const [writer, reader] = round % 2 === 0 ? [0, 1] : ([1, 0] as const)
    const name = `R${round}`
    const response = await fetch(`${urls[writer]}/pet`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    })
    assert.equal(response.status, 201, await response.text())
    const token = response.headers.get('keelson-operation') ?? assert.fail('no token')
    const client = clients[reader] as LiveTestClient
    await client.until(() => client.rows('local')?.some((row) => row.name === name) ?? false)
    await client.until(() => client.operations.has(token))
    assert.equal(client.rows('window')?.length, Math.min(round + 1, 3))
  }
  for (const client of clients) await client.close()
  for (const command of commands) command.kill('SIGTERM')
  for (const command of commands) {
    const { code, stderr } = await command.ended
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  }
  return first.stdout
}
