import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createService } from '../src/index.ts'
import type { JsonObject } from '../src/protocol/json.ts'
import { LiveTestClient } from '../test/support/live-client.ts'

/*
 * What live queries cost: a write beside many of them, windows that are read again, the time until a second client has a
 * change, and the return of a client. The service and its clients share one process, so the figures contain both.
 */

const models = {
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: {
    attributes: {
      name: { type: 'string' },
      box: { type: 'number', index: true },
      age: { type: 'number' },
      owner: { model: 'owner' },
    },
  },
} as const

const databaseUrl = process.env.KEELSON_BENCH_DATABASE

let statements = 0
const logger = {
  info() {},
  warn() {},
  error: (error: unknown) => console.error(error),
  debug: () => void statements++,
}

async function serve(isCounting = false) {
  const file = join(tmpdir(), `keelson-${randomUUID()}.db`)
  const service = await createService({
    database: databaseUrl ?? `sqlite:${file}`,
    migrate: 'drop',
    models,
    ...(isCounting && { logger }),
    limits: { maxLiveQueries: 100_000, maxBodyBytes: 20_000_000, maxJsonValues: 2_000_000 },
  })
  const { url } = await service.listen(0)
  const send = async (method: string, path: string, body: object) => {
    const response = await fetch(url + path, {
      method,
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    })
    await response.arrayBuffer()
    return response.headers.get('keelson-operation') ?? ''
  }
  return {
    service,
    url,
    send,
    async [Symbol.asyncDispose]() {
      await service.close()
      await rm(file, { force: true })
    },
  }
}

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] as number
const ms = (value: number): string => `${value.toFixed(2)} ms`

/**
 * Queries on own attributes: `matching` of them, all in the first of the streams, match what is written. Every stream receives the
 * token of the operation once it is up to date with the write.
 */
async function local(count: number, matching: number, streams = 1): Promise<number> {
  await using served = await serve()
  const { service, url } = served
  const { pet } = service.system.records
  await pet.create({ name: 'Rex', box: 1, age: 1 })
  const each = count / streams
  const clients: LiveTestClient[] = []
  for (let from = 0; from < count; from += each) {
    const queries: Record<string, JsonObject> = {}
    // Each is another query; those of the first box match.
    for (let number = from; number < from + each; number++)
      queries[`${number}`] = { model: 'pet', where: { box: number < matching ? 1 : number, age: { '>=': -number } } }
    const client = await LiveTestClient.open(url, queries)
    await client.until(() => client.held.size === each)
    clients.push(client)
  }
  const [client] = clients as [LiveTestClient]
  const times: number[] = []
  const runs = 600
  const cpu = process.cpuUsage()
  for (let age = 0; age < runs; age++) {
    const began = performance.now()
    await pet.update(1, { age })
    await client.until(() => client.rows(`${matching - 1}`)?.[0]?.age === age)
    times.push(performance.now() - began)
  }
  const { user, system } = process.cpuUsage(cpu)
  console.log(
    `${count} queries in ${streams} streams, ${matching} match: ${ms(median(times))} from the write to the last difference, ${ms((user + system) / 1000 / runs)} of processor time, heap ${Math.round(process.memoryUsage().heapUsed / 1e6)} MB`,
  )
  for (const one of clients) await one.close()
  return median(times)
}

/** Windows over one model, of some distinct contents, with embedded records. */
async function windows(count: number, distinct: number): Promise<void> {
  await using served = await serve(true)
  const { service, url, send } = served
  const { pet, owner } = service.system.records
  await owner.create({ name: 'Ann' })
  for (let number = 0; number < 200; number++)
    await pet.create({ name: `p${number}`, box: number % 10, age: number, owner: 1 })
  const clients: LiveTestClient[] = []
  for (let from = 0; from < count; from += 100) {
    const queries: Record<string, JsonObject> = {}
    for (let number = from; number < from + 100; number++) {
      const content = number % distinct
      const [limit, skip] = [5 + (content % 30), 1 + Math.floor(content / 30)]
      queries[`${number}`] = { model: 'pet', sort: 'age DESC', limit, skip, populate: ['owner'] }
    }
    const client = await LiveTestClient.open(url, queries)
    await client.until(() => client.held.size === 100)
    clients.push(client)
  }
  const times: number[] = []
  const counted: number[] = []
  for (let age = 1_000; age < 1_030; age++) {
    const before = statements
    const began = performance.now()
    const token = await send('POST', '/pet', { name: 'top', age, box: 1 })
    await Promise.all(clients.map((client) => client.until(() => client.operations.has(token))))
    times.push(performance.now() - began)
    counted.push(statements - before)
  }
  console.log(
    `${count} windows, ${distinct} distinct: ${ms(median(times))} until all clients have them, ${median(counted)} statements for each write`,
  )
  await Promise.all(clients.map((client) => client.close()))
}

/** From the answer to a write over HTTP until another client has the difference. */
async function secondWindow(): Promise<void> {
  await using served = await serve()
  const { url, send } = served
  await send('POST', '/pet', { name: 'Rex', age: 0, box: 1 })
  for (const query of [
    { model: 'pet', where: { box: 1 } },
    { model: 'pet', populate: ['owner'], sort: 'age', limit: 20 },
  ]) {
    const client = await LiveTestClient.open(url, { a: query })
    await client.until(() => client.held.size === 1)
    const afterAnswer: number[] = []
    for (let age = 1; age <= 500; age++) {
      let arrived = 0
      const arrives = client
        .until(() => client.rows('a')?.[0]?.age === age)
        .then(() => {
          arrived = performance.now()
        })
      await send('PATCH', '/pet/1', { age })
      const answered = performance.now()
      await arrives
      afterAnswer.push(arrived - answered)
    }
    const kind = 'populate' in query ? 'read again' : 'from the images'
    console.log(
      `a second client, ${kind}: ${ms(median(afterAnswer))} after the answer (below zero: before it), the slowest ${ms(Math.max(...afterAnswer))}`,
    )
    await client.close()
  }
}

async function resume(changes: number): Promise<void> {
  await using served = await serve()
  const { service, url } = served
  const { pet } = service.system.records
  for (let number = 0; number < 100; number++) await pet.create({ name: `p${number}`, age: number, box: 1 })
  const query = { model: 'pet', where: { box: 1 }, sort: 'age', limit: 1000 }
  const client = await LiveTestClient.open(url, { a: query })
  await client.until(() => client.held.size === 1)
  const { rows, position } = client.held.get('a') ?? { rows: [], position: '' }
  await client.close()
  for (let number = 0; number < changes; number++) await pet.update(1 + (number % 100), { age: 500 - number })
  const times: number[] = []
  for (let round = 0; round < 20; round++) {
    const began = performance.now()
    const again = await LiveTestClient.open(
      url,
      { a: { ...query, after: position, ids: rows.map(({ id }) => id as number) } },
      {},
      client.held,
    )
    await again.until(() => again.frames.some(({ event }) => event === 'diff'))
    times.push(performance.now() - began)
    await again.close()
  }
  console.log(`resuming after ${changes} changes: ${ms(median(times))} from the request to the difference`)
}

await local(1_000, 10)
const few = await local(1_000, 10)
const many = await local(100_000, 10)
console.log(`a write beside 100,000 queries takes ${(many / few).toFixed(2)} times as long as beside 1,000`)
const spread = await local(100_000, 10, 100)
console.log(`in 100 streams, all of which receive its operation token, ${(spread / few).toFixed(2)} times`)
await windows(1_000, 10)
await windows(1_000, 1_000)
await secondWindow()
await resume(1_000)
