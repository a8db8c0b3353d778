import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { createService, type Position } from '../../../src/index.ts'
import { decodeResumePosition } from '../../../src/service/live/resume-position.ts'
import { Random } from '../../support/random.ts'
import { openForeignWriter } from '../history/foreign-writer.ts'
import { Marks } from '../history/marks.ts'
import { settings } from '../history/models.ts'
import { auth, ruledModels, userNames } from '../history/rules.ts'
import { Server } from '../history/server.ts'
import type { Step } from '../history/steps.ts'
import { Writer } from '../history/writer.ts'
import { randomQuery } from './queries.ts'
import { Reference } from './reference.ts'
import { type Moment, type Send, Watcher } from './watcher.ts'

/** What has not arrived within this time is missing. */
const receiveTimeoutMs = 20_000
const mostWatchers = 12
/** Of the service in this process: so few that those of a client that does not read are dropped. */
const maxQueuedBytes = 1_500

export interface LiveHistory {
  readonly writes: number
  readonly frames: number
  readonly resumed: number
  /** Queries that were read again, because a client had not read or the log did not reach as far back. */
  readonly resets: number
  readonly trims: number
  /** How often the rows of a client were compared with the query at their position. */
  readonly compared: number
}

/** `isBroken`: what a client holds is falsified, which must be found out. */
export async function run(
  database: string,
  steps: readonly Step[],
  { servers, seed, isBroken = false }: { readonly servers: number; readonly seed: number; readonly isBroken?: boolean },
): Promise<LiveHistory> {
  const limits = { ...settings.limits, maxQueuedBytes }
  await using service = await createService({ ...settings, limits, auth, models: ruledModels, database })
  const reference = new Reference(service.changes)
  let read: Position = await service.changes.head()
  /** Nothing is written meanwhile. */
  const readLog = async (): Promise<void> => {
    for (;;) {
      const batch = await service.changes.read(read, 500)
      assert.ok(batch !== 'reset')
      reference.add(batch.changes)
      read = batch.position
      if (batch.changes.length === 0) return
    }
  }
  await using foreignWriter = await openForeignWriter(database)
  const all = Array.from({ length: servers }, () => new Server(database, true))
  await using _ = { [Symbol.asyncDispose]: async () => void (await Promise.all(all.map((one) => one.end('SIGKILL')))) }
  await Promise.all(all.map((server) => server.start()))
  const writer = new Writer(all, foreignWriter, new Marks())
  await using _writer = { [Symbol.asyncDispose]: () => writer.close() }
  await writer.fill()
  const random = new Random(seed)
  const moments: Moment[] = []
  const watchers: Watcher[] = []
  await using _watchers = {
    [Symbol.asyncDispose]: async () => void (await Promise.all(watchers.map((watcher) => watcher.cut()))),
  }
  /** The servers, and the service of this process. */
  const services = servers + 1
  const sendTo = (number: number): Send | undefined => {
    const server = all[number % services]
    if (!server) return sendInProcess(service.fetch)
    return server.url === undefined ? undefined : (path, init) => fetch(server.url + path, init)
  }
  const add = async (): Promise<void> => {
    const queries = Array.from({ length: 1 + random.below(4) }, (_, number) => [`q${number}`, randomQuery(random)])
    const user = random.chance(0.4) ? undefined : random.pick(userNames)
    const watcher = new Watcher(`${watchers.length}`, user, Object.fromEntries(queries), (moment) =>
      moments.push(moment),
    )
    watchers.push(watcher)
    await watcher.connect(sendTo(random.below(services)), random)
  }
  for (let count = 0; count < 3; count++) await add()
  let trims = 0
  for (const step of steps) {
    await take(step, all, writer)
    // A server that was just killed may still have a write under way.
    if (step.do !== 'kill' && random.chance(0.06)) {
      await readLog()
      await service.changes.trim({ ageMs: 0, rows: 0 })
      read = await service.changes.head()
      trims++
    }
    if (random.chance(0.25)) random.pick(watchers).stall(true)
    if (random.chance(0.15)) random.pick(watchers).stall(false)
    if (random.chance(0.15) && watchers.length < mostWatchers) await add()
    const one = random.pick(watchers)
    if (random.chance(0.15)) await one.cut()
    else if (!one.isConnected) await one.connect(sendTo(random.below(services)), random)
  }
  for (const server of all) await server.start()
  for (const watcher of watchers) watcher.stall(false)
  const connectAll = async (): Promise<void> => {
    for (const [index, watcher] of watchers.entries()) await watcher.connect(sendTo(index), random)
  }
  await connectAll()

  await readLog()
  await settle(watchers, reference, read, connectAll)
  await reportOperations(watchers, sendTo(0) as Send)
  const sample = moments.length <= 1_500 ? moments : moments.filter(() => random.chance(1_500 / moments.length))
  for (const { watcher, query, user, held, event } of sample) {
    // What was written at the end is not in the reference.
    const { position } = decodeResumePosition(held.position)
    if (service.changes.reaches(read, position) !== true) continue
    const { rows, total } = await reference.answer(query, user, position)
    const told = isBroken && held.rows.length > 1 ? [...held.rows].reverse() : held.rows
    const what = `watcher ${watcher} (${user}) after ${event} at ${held.position}: ${JSON.stringify(query)}`
    assert.deepEqual(told, rows, what)
    assert.equal(held.total, total, what)
  }
  for (const watcher of watchers) await watcher.cut()
  const sumOf = (count: (watcher: Watcher) => number) => watchers.reduce((sum, watcher) => sum + count(watcher), 0)
  return {
    writes: writer.done,
    frames: sumOf(({ frames }) => frames),
    resumed: sumOf(({ resumed }) => resumed),
    resets: sumOf(({ resets }) => resets),
    trims,
    compared: sample.length,
  }
}

/** As `fetch`, with a connection that breaks when its signal is aborted, and that holds nothing which the client has not read. */
const sendInProcess =
  (handle: (request: Request) => Promise<Response>): Send =>
  async (path, init) => {
    const response = await handle(new Request(`http://localhost${path}`, init))
    const body = init.signal
      ? response.body?.pipeThrough(new TransformStream(), { signal: init.signal })
      : response.body
    return new Response(body, response)
  }

async function take(step: Step, servers: readonly Server[], writer: Writer): Promise<void> {
  const server = (number: number) => servers[number % servers.length] as Server
  switch (step.do) {
    case 'write':
      return writer.write(step.write)
    case 'burst':
      await Promise.all(step.writes.map((write) => writer.write(write)))
      return
    case 'kill':
      return server(step.server).end('SIGKILL')
    case 'stop':
      return server(step.server).end('SIGTERM')
    case 'start':
      return server(step.server).start()
  }
}

/** Every client must come to hold what is true at the end. */
async function settle(
  watchers: readonly Watcher[],
  reference: Reference,
  position: Position,
  connectAll: () => Promise<void>,
): Promise<void> {
  const deadline = performance.now() + receiveTimeoutMs
  for (const watcher of watchers) {
    for (const [name, query] of Object.entries(watcher.queries)) {
      const { rows } = await reference.answer(query, watcher.user, position)
      for (;;) {
        const held = watcher.held.get(name)
        if (held && JSON.stringify(held.rows) === JSON.stringify(rows)) break
        const what = `watcher ${watcher.name} (${watcher.user}) at the end: ${JSON.stringify(query)}`
        if (performance.now() > deadline) assert.deepEqual(held?.rows, rows, what)
        await wait(20)
        // One that did not read learns only then that its server has gone.
        await connectAll()
      }
    }
  }
}

/** A write is reported to the streams of its own requester, on every server, and to no others. */
async function reportOperations(watchers: readonly Watcher[], send: Send): Promise<void> {
  const deadline = performance.now() + receiveTimeoutMs
  for (const user of [undefined, ...userNames]) {
    const headers = { 'content-type': 'application/json', ...(user !== undefined && { 'x-user': user }) }
    const response = await send('/tag', { method: 'POST', body: '{"mark":"last"}', headers })
    const token = response.headers.get('keelson-operation') ?? assert.fail(await response.text())
    for (const watcher of watchers.filter((one) => one.user === user)) {
      while (!watcher.operations.has(token)) {
        assert.ok(performance.now() < deadline, `watcher ${watcher.name} (${user}) has not passed an operation`)
        await wait(10)
      }
    }
    for (const watcher of watchers.filter((one) => one.user !== user)) assert.ok(!watcher.operations.has(token))
  }
}
