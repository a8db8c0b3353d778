import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Child, type Usage } from './child.ts'
import { freePort } from './free-port.ts'
import { inRounds, median } from './measure.ts'
import { installPackage, writeConfig } from './package.ts'
import { print, printRow } from './print.ts'
import type { ClientKind } from './sockets/clients.ts'

/*
 * How much memory a server takes for its first clients, which connect and stay idle. Each server was just started; Keelson is the
 * package as it is published.
 */

const { values: options } = parseArgs({
  options: {
    sockets: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
    /** Names of rows with commas between them. */
    only: { type: 'string' },
    /** Another folder with an installed package, to compare with. */
    beside: { type: 'string' },
    /** Seconds after which the work of connecting is over. V8 frees the space for young objects after 30 at the earliest. */
    settles: { type: 'string', default: '2' },
    /** Flags of Node for Keelson, with spaces between them: `--no-opt --no-maglev` is without optimizing compilers. */
    flags: { type: 'string', default: '' },
  },
})
const [sockets, rounds] = [Number(options.sockets), Number(options.rounds)]
const settlesMs = Number(options.settles) * 1000
const here = import.meta.dirname

interface Row {
  readonly clients: ClientKind
  readonly start: (port: number) => Promise<Child>
}

interface Growth {
  /** As the system reports it, for the first clients: with the code that they are the first to use, and garbage. */
  readonly firstMb: number
  /** The same for as many again. */
  readonly nextMb: number
  /** The heap of all of them, after garbage collections. */
  readonly heapMb: number
}

const bare =
  (file: string) =>
  (port: number): Promise<Child> =>
    Child.start(undefined, ['--expose-gc'], join(here, file), [String(port)])

const keelson =
  (program: string) =>
  async (port: number): Promise<Child> => {
    const config = writeConfig(folder, port)
    const child = await Child.start(
      undefined,
      [
        ...options.flags.split(' ').filter(Boolean),
        '--expose-gc',
        '--import',
        join(here, 'sockets', 'report-usage.ts'),
      ],
      program,
      ['start', '--config', config],
      { output: 'ignore' },
    )
    await answers(port)
    return child
  }

async function answers(port: number): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    const response = await fetch(`http://127.0.0.1:${port}/pet?limit=1`).catch(() => undefined)
    await response?.text()
    if (response?.ok) return
    await sleep(20)
  }
  throw new Error('No answer')
}

async function grow({ clients, start }: Row): Promise<Growth> {
  const port = await freePort()
  await using server = await start(port)
  await using crowd = await Child.start(undefined, [], join(here, 'sockets', 'clients.ts'), [])
  await sleep(settlesMs)
  const enter = async (): Promise<Usage> => {
    await crowd.ask({ kind: clients, port, count: sockets })
    await sleep(settlesMs)
    return (await server.ask('usage')) as Usage
  }
  const settled = async (): Promise<Usage> => {
    for (let time = 0; time < 3; time++) await server.ask('usage without garbage')
    return (await server.ask('usage without garbage')) as Usage
  }
  const before = (await server.ask('usage')) as Usage
  const first = await enter()
  const next = await enter()
  const heapOfAll = (await settled()).heapBytes
  await crowd.ask('leave')
  await sleep(settlesMs)
  const mb = (bytes: number): number => bytes / 1024 / 1024
  return {
    firstMb: mb(first.rssBytes - before.rssBytes),
    nextMb: mb(next.rssBytes - first.rssBytes),
    heapMb: mb(heapOfAll - (await settled()).heapBytes) / 2,
  }
}

const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'))
try {
  const program = installPackage(folder)
  const all: Readonly<Record<string, Row>> = {
    'upgrade alone': { clients: 'ws', start: bare('sockets/bare-upgrade.ts') },
    'ws alone': { clients: 'ws', start: bare('live/bare-ws.ts') },
    keelson: { clients: 'websocket', start: keelson(program) },
    'keelson upgraded': { clients: 'upgraded', start: keelson(program) },
    ...(options.beside && {
      beside: { clients: 'websocket', start: keelson(options.beside) },
      'beside upgraded': { clients: 'upgraded', start: keelson(options.beside) },
    }),
  }
  const names = options.only?.split(',') ?? Object.keys(all)
  const samples = await inRounds(names, rounds, (name) => grow(all[name] as Row))
  print(
    `\nMB for the first ${sockets} idle sockets, the next, and the heap of as many, Node ${process.versions.node}, medians of ${rounds} rounds`,
  )
  printRow(['', 'first RSS', 'next RSS', 'heap'])
  for (const name of names) {
    const figure = (of: keyof Growth): string => median(samples.map((taken) => (taken[name] as Growth)[of])).toFixed(1)
    printRow([name, figure('firstMb'), figure('nextMb'), figure('heapMb')])
  }
} finally {
  rmSync(folder, { recursive: true })
}
