import { connect, type Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { cases, requestsOf } from './cases.ts'
import { Child, type Usage } from './child.ts'
import { chosenDatabases, chosenNames, postgresUrl } from './chosen.ts'
import { deepCursors, listTag } from './cursors.ts'
import { freePort } from './free-port.ts'
import { AnswerReader, messageOf } from './load.ts'
import { inRounds, median } from './measure.ts'
import { preparePostgres, prepareSqlite } from './prepare.ts'
import { fail, print } from './print.ts'
import { profiling } from './server.ts'

/*
 * Two checkouts of Keelson in one process, and the server by hand with triggers, in short alternating blocks over connections
 * that stay open: what else the machine does concerns all of them alike, and both versions have one heap. Processor time.
 */

const { values: options } = parseArgs({
  options: {
    database: { type: 'string', default: 'sqlite' },
    only: { type: 'string', default: 'one,list,filtered,populated,through' },
    rounds: { type: 'string', default: '100' },
    /** Rounds before them. V8 goes on compiling for tens of thousands of requests. */
    'warm-up': { type: 'string', default: '8' },
    /** The number of requests in one block. */
    requests: { type: 'string', default: '240' },
    connections: { type: 'string', default: '48' },
    /** The folder of the other checkout. */
    with: { type: 'string' },
    'kept-answers': { type: 'boolean', default: false },
    /** A folder for CPU profiles. */
    profile: { type: 'string' },
  },
})

const rounds = Number(options.rounds)
const blockLength = Number(options.requests)
const warmUpRounds = Number(options['warm-up'])

interface Server {
  readonly process: Child
  readonly port: number
}

/** Connections that stay open, with one request at a time on each. */
class Clients {
  readonly #sockets: readonly Socket[]
  readonly #messages: readonly Buffer[]
  #answered: ((connection: number) => void) | undefined
  #failed: ((error: unknown) => void) | undefined

  constructor(port: number, messages: readonly Buffer[]) {
    this.#messages = messages
    this.#sockets = Array.from({ length: Number(options.connections) }, (_, index) => this.#open(port, index))
  }

  #open(port: number, index: number): Socket {
    const answers = new AnswerReader()
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.on('error', (error) => this.#failed?.(error))
    socket.on('close', () => this.#failed?.(new Error('The server closed a connection')))
    socket.on('data', (chunk: Buffer) => {
      try {
        if (answers.isWhole(chunk)) this.#answered?.(index)
      } catch (error) {
        this.#failed?.(error)
      }
    })
    return socket
  }

  /** Resolves when all requests of the block are answered. */
  send(from: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let sent = 0
      let answered = 0
      const next = (connection: number): void => {
        this.#sockets[connection]?.write(this.#messages[(from + sent++) % this.#messages.length] as Buffer)
      }
      this.#failed = reject
      this.#answered = (connection) => {
        if (++answered === blockLength) resolve()
        else if (sent < blockLength) next(connection)
      }
      for (let index = 0; index < this.#sockets.length && sent < blockLength; index++) next(index)
    })
  }

  close(): void {
    this.#failed = undefined
    for (const socket of this.#sockets) socket.destroy()
  }
}

const names = chosenNames(
  options.only,
  cases.map(({ name }) => name),
)
const kinds = chosenDatabases(options.database)
const kind = kinds.length === 1 ? (kinds[0] as (typeof kinds)[number]) : fail('--database is sqlite or postgres')
await using databases = kind === 'postgres' ? await preparePostgres(postgresUrl as string) : await prepareSqlite()
await using stack = new AsyncDisposableStack()
const start = async (name: string, file: string, args: readonly string[]): Promise<Child> =>
  stack.use(await Child.start(undefined, profiling(options.profile, name), join(import.meta.dirname, file), args))

const [handPort, port, otherPort] = await Promise.all([freePort(), freePort(), freePort()])
const hand = await start('by-hand', join('hand-written', `${kind}.ts`), [databases.urls.with, String(handPort)])
const keelson = await start('keelson', 'versions-server.ts', [
  databases.urls.keelson,
  options['kept-answers'] ? 'kept-answers' : 'without-kept-answers',
  ...[String(port), resolve(import.meta.dirname, '..')],
  ...(options.with === undefined ? [] : [String(otherPort), resolve(options.with)]),
])
const servers: Record<string, Server> = {
  hand: { process: hand, port: handPort },
  keelson: { process: keelson, port },
  ...(options.with !== undefined && { other: { process: keelson, port: otherPort } }),
}
const serverNames = Object.keys(servers)

const usedBy = async ({ process }: Server): Promise<number> => ((await process.ask('usage')) as Usage).cpuMs

async function compare(name: string): Promise<void> {
  const cursors = name === 'cursor' ? await deepCursors(port) : undefined
  const tag = name === '304' ? await listTag(port) : ''
  const clients = new Map<string, Clients>()
  for (const [server, { port }] of Object.entries(servers)) {
    const cursor = (server === 'hand' ? cursors?.byHand : cursors?.keelson) ?? ''
    clients.set(server, new Clients(port, requestsOf(name, { cursor, tag }).map(messageOf)))
  }
  let from = 0
  const sample = async (server: string): Promise<number> => {
    const before = await usedBy(servers[server] as Server)
    await (clients.get(server) as Clients).send(from)
    const used = (await usedBy(servers[server] as Server)) - before
    if (server === 'keelson') from += blockLength
    return (used * 1000) / blockLength
  }
  await inRounds(serverNames, warmUpRounds, sample)
  const samples = await inRounds(serverNames, rounds, sample)
  for (const each of clients.values()) each.close()

  const middle = (server: string): string =>
    median(samples.map((taken) => taken[server] as number))
      .toFixed(1)
      .padStart(9)
  const ratio = (above: string, below: string): string => {
    const sorted = samples.map((taken) => (taken[above] as number) / (taken[below] as number)).sort((a, b) => a - b)
    const at = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] as number).toFixed(3)
    return `${median(sorted).toFixed(3)} (${at(0.25)} to ${at(0.75)})`.padStart(26)
  }
  const versions = options.with === undefined ? '' : `${middle('other')}${ratio('keelson', 'other')}`
  print(`${name.padEnd(10)}${middle('hand')}${middle('keelson')}${ratio('hand', 'keelson')}${versions}`)
}

print(
  `µs of processor time for one request; medians of ${rounds} rounds of ${blockLength} requests, and quartiles; ${kind}`,
)
print('case        by hand  keelson   by hand / keelson           other   keelson / other')
for (const name of names) await compare(name)
