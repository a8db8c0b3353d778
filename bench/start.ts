import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import { median } from './measure.ts'
import { installPackage, writeConfig } from './package.ts'

/*
 * How long `keelson start` takes until the first request is answered, and how much memory it holds when idle: the
 * medians of seven starts on a database that is there already, of the package as it is published. From the sources it
 * takes longer, because Node has to strip their types first.
 */

const starts = 7
const triesEveryMs = 2
const givesUpMs = 30_000
/** After this time the work of starting is over, and most of its garbage is collected. */
const settlesMs = 1000

interface Start {
  readonly readyMs: number
  readonly rssMb: number
}

async function startOnce(program: string, config: string, port: number): Promise<Start> {
  const begunAt = performance.now()
  const keelson = spawn(process.execPath, [program, 'start', '--config', config], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exit = once(keelson, 'exit')
  try {
    await Promise.race([
      answers(port, begunAt + givesUpMs),
      exit.then(([code]) => Promise.reject(new Error(`keelson start ended with ${code}`))),
    ])
    const readyMs = performance.now() - begunAt
    await sleep(settlesMs)
    return { readyMs, rssMb: residentMb(keelson.pid as number) }
  } finally {
    keelson.kill('SIGTERM')
    await exit
  }
}

async function answers(port: number, givesUpAt: number): Promise<void> {
  while (performance.now() < givesUpAt) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/pet?limit=1`)
      await response.text()
      if (response.ok) return
    } catch {
      // Not yet.
    }
    await sleep(triesEveryMs)
  }
  throw new Error(`No answer within ${givesUpMs} ms`)
}

/** NaN where the system does not report it. */
function residentMb(pid: number): number {
  const status = `/proc/${pid}/status`
  if (!existsSync(status)) return Number.NaN
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1]) / 1024
}

const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'))
try {
  const program = installPackage(folder)
  const port = await freePort()
  const config = writeConfig(folder, port)
  await startOnce(program, config, port) // makes the tables
  const measured: Start[] = []
  for (let count = 0; count < starts; count++) measured.push(await startOnce(program, config, port))
  process.stdout.write(
    `keelson start, Node ${process.versions.node}, medians of ${starts}: ` +
      `first answer after ${median(measured.map(({ readyMs }) => readyMs)).toFixed(0)} ms, ` +
      `idle ${median(measured.map(({ rssMb }) => rssMb)).toFixed(0)} MB\n`,
  )
} finally {
  rmSync(folder, { recursive: true })
}
