import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createService } from '../src/index.ts'
import { median } from './measure.ts'

/*
 * What a batch of 100 creates costs, compared with 100 requests: one after another, and at once over 16 connections. The
 * server is a process of its own; its processor time is measured, and the time until the last answer.
 *
 *   node bench/batch.ts [ROUNDS]
 */

const size = 100
const connections = 16
const models = {
  pet: {
    attributes: {
      name: { type: 'string', required: true },
      kind: { type: 'string', isIn: ['cat', 'dog'], defaultsTo: 'cat' },
      age: { type: 'number' },
    },
  },
} as const

if (process.argv[2] === 'serve') await serve(process.argv[3] as string)
else await compare(Number(process.argv[2] ?? 15))

async function serve(database: string): Promise<void> {
  const service = await createService({ models, database })
  const { port } = await service.listen(0, '127.0.0.1')
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.((user + system) / 1000)
  })
  process.on('disconnect', () => process.exit())
  process.send?.(port)
}

async function compare(rounds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-batch-'))
  const databases = [`sqlite:${join(folder, 'batch.db')}`]
  if (process.env.KEELSON_BENCH_POSTGRES) databases.push(process.env.KEELSON_BENCH_POSTGRES)
  try {
    for (const database of databases) await compareOn(database, rounds)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function compareOn(database: string, rounds: number): Promise<void> {
  const server = fork(import.meta.filename, ['serve', database])
  const [port] = (await once(server, 'message')) as [number]
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const pet = (index: number) => ({ name: `pet ${index}`, kind: 'dog', age: index })
  const indexes = Array.from({ length: size }, (_, index) => index)
  const send = (path: string, body: unknown) => post(agent, port, path, JSON.stringify(body))
  const ways: Readonly<Record<string, () => Promise<unknown>>> = {
    'one after another': async () => {
      for (const index of indexes) await send('/pet', pet(index))
    },
    'at once': () => Promise.all(indexes.map((index) => send('/pet', pet(index)))),
    batch: () =>
      send(
        '/batch',
        indexes.map((index) => ({ method: 'POST', url: '/pet', body: pet(index) })),
      ),
    list: () => send('/pet', indexes.map(pet)),
  }
  const cpu = async (): Promise<number> => {
    server.send('cpu')
    return ((await once(server, 'message')) as [number])[0]
  }
  const found = Object.fromEntries(Object.keys(ways).map((way) => [way, { ms: [] as number[], cpu: [] as number[] }]))
  for (let round = -5; round < rounds; round++) {
    for (const [way, run] of Object.entries(ways)) {
      const [cpuBefore, begin] = [await cpu(), performance.now()]
      await run()
      const ms = performance.now() - begin
      const cpuMs = (await cpu()) - cpuBefore
      if (round < 0) continue
      found[way]?.ms.push(ms)
      found[way]?.cpu.push(cpuMs)
    }
  }
  console.log(`\n${database.split(':', 1)[0]}, ${size} creates, medians of ${rounds}`)
  const of = (way: string, what: 'ms' | 'cpu') => median(found[way]?.[what] ?? [])
  for (const way of Object.keys(ways)) {
    const ratios = ['one after another', 'at once'].map((other) =>
      [of(way, 'ms') / of(other, 'ms'), of(way, 'cpu') / of(other, 'cpu')].map((ratio) => ratio.toFixed(2)),
    )
    const [sequential, concurrent] = ratios as [string[], string[]]
    console.log(
      `${way.padEnd(18)} ${of(way, 'ms').toFixed(1).padStart(7)} ms ${of(way, 'cpu').toFixed(1).padStart(7)} ms CPU` +
        `   of one after another: ${sequential[0]}, CPU ${sequential[1]}   of at once: ${concurrent[0]}, CPU ${concurrent[1]}`,
    )
  }
  agent.destroy()
  server.disconnect()
  await once(server, 'exit')
}

function post(agent: Agent, port: number, path: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }
    const sent = request({ agent, host: '127.0.0.1', port, method: 'POST', path, headers }, (response) => {
      response.resume()
      response.on('end', () => {
        const { statusCode = 0 } = response
        if (statusCode < 300) resolve()
        else reject(new Error(`${path}: ${statusCode}`))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
