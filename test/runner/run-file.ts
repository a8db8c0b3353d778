import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Report } from './reporter.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const reporter = new URL('reporter.ts', import.meta.url)
/** Processes of later files, and commands that tests start, need not remove types and compile the sources again. */
const compileCache = join(root, 'node_modules', '.cache', 'keelson-tests')

export interface FileRun {
  readonly file: string
  /** Further options of `node --test`, for example `--test-name-pattern=…`. */
  readonly options: readonly string[]
  /** Where the reporter writes its document; overwritten. */
  readonly reportFile: string
  /** For `KEELSON_TEST_POSTGRES`: the address of a server that no other file uses meanwhile, or 'none'. */
  readonly postgres: string
  /** The process and those that it started are killed after this time; undefined: it may take any time. */
  readonly timeoutMs: number | undefined
  readonly signal: AbortSignal
}

export interface FileResult extends Report {
  readonly file: string
  readonly isPassed: boolean
  readonly seconds: number
  /** Everything that the tests printed, with the usual report. */
  readonly output: string
}

/** How long a process that a test left running may hold the output of an ended file. */
const outputTimeoutMs = 5_000

/**
 * Runs the tests of one file in a process of its own, which leads a group: nothing that a test leaves running in it
 * outlives the file.
 */
export function runFile({ file, options, reportFile, postgres, timeoutMs, signal }: FileRun): Promise<FileResult> {
  const startedAt = performance.now()
  const args = [
    '--conditions=keelson-source',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${reporter}`,
    `--test-reporter-destination=${reportFile}`,
    ...options,
    file,
  ]
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { NODE_COMPILE_CACHE: compileCache, ...process.env, KEELSON_TEST_POSTGRES: postgres },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const kill = (name: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid as number), name)
    } catch {
      // no process of the group is left
    }
  }
  const stop = () => kill('SIGTERM')
  signal.addEventListener('abort', stop)
  let output = ''
  const timer =
    timeoutMs &&
    setTimeout(() => {
      output += `\n${file} was not done after ${timeoutMs / 1000} s\n`
      kill('SIGKILL')
    }, timeoutMs)
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    // A process that left the group can hold the output, and 'close' waits for it.
    child.once('exit', () => {
      kill('SIGKILL')
      setTimeout(() => {
        if (!child.stdout.readableEnded) output += `\n${file} left a process running that holds its output\n`
        child.stdout.destroy()
        child.stderr.destroy()
      }, outputTimeoutMs).unref()
    })
    child.once('close', (code, killedBy) => {
      signal.removeEventListener('abort', stop)
      clearTimeout(timer)
      if (killedBy !== null) output += `\n${file} was ended by ${killedBy}\n`
      const report = readReport(reportFile)
      const isPassed = code === 0 && report.counts !== undefined
      resolve({ ...report, file, isPassed, seconds: (performance.now() - startedAt) / 1000, output })
    })
  })
}

function readReport(file: string): Report {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { skips: [] } // the process ended before the reporter wrote
  }
}
