import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Lane, openLanes } from './lanes.ts'
import { type FileResult, runFile } from './run-file.ts'
import { longestFirst, type Speed, selectFiles } from './select-files.ts'
import { line, summary } from './summary.ts'

/** A test that waits for an event that never comes fails after this time. */
const testTimeoutMs = 120_000
/** A file is ended after this time, unless it is the only one: a test that timed out may leave its process running. */
const fileTimeoutMs = 600_000
/** Of so many files all that they print is shown; of more, the output of those that fail. */
const fewFiles = 10
/** A run of all files ends after this time. */
const runTimeoutMs = 1_800_000

/**
 * `run.js [--all | --slow] [FILE or FOLDER…] [--OPTION=VALUE…]`: the named files and those in the named folders, or every
 * file; of a folder the quick ones, all with `--all`, the others with `--slow`. Options are those of `node --test`. Sets the
 * exit code. With `KEELSON_TEST_REPEAT_FAILED`, a file that failed is run once more, alone; when it passes then, the run
 * passes and ends with the line `UNSTABLE`, for tests that depend on the load of a CI machine.
 */
export async function main(args: readonly string[]): Promise<void> {
  const options = args.filter((word) => word !== '--all' && word !== '--slow' && word.startsWith('-'))
  const speed: Speed = args.includes('--all') ? 'all' : args.includes('--slow') ? 'slow' : 'quick'
  const paths = args.filter((word) => !word.startsWith('-'))
  const selected = paths.map((path) => (path.endsWith('.ts') ? [path] : selectFiles(speed, [path])))
  const withoutTests = paths.filter((_, index) => selected[index]?.length === 0)
  if (withoutTests.length > 0) {
    console.error(`No test file in ${withoutTests.join(', ')}`)
    process.exitCode = 1
    return
  }
  const named = selected.flat()
  const files = longestFirst(named.length > 0 ? named : selectFiles(speed))
  const isRepeating = process.env.KEELSON_TEST_REPEAT_FAILED !== undefined
  const startedAt = performance.now()
  const controller = new AbortController()
  const end = (reason: string) => {
    console.log(`\nThe run was ended by ${reason}; the remaining files were not run.`)
    process.exitCode = 1
    controller.abort()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => end(signal))
  const timer = named.length > 0 ? undefined : setTimeout(() => end('its time limit'), runTimeoutMs)

  const { lanes, postgres } = await openLanes(files.length)
  const folder = mkdtempSync(join(tmpdir(), 'keelson-tests-'))
  const results: FileResult[] = []
  const waiting = [...files]
  const run = async (file: string, lane: Lane, number: number) => {
    const result = await runFile({
      file,
      options: [`--test-timeout=${testTimeoutMs}`, ...options],
      reportFile: join(folder, String(number)),
      postgres: lane.postgres,
      timeoutMs: files.length === 1 && !isRepeating ? undefined : fileTimeoutMs,
      signal: controller.signal,
    })
    if (files.length <= fewFiles || !result.isPassed) console.log(result.output)
    if (files.length > 1) console.log(line(result))
    return result
  }
  const runLane = async (lane: Lane, number: number) => {
    for (let file = waiting.shift(); file && !controller.signal.aborted; file = waiting.shift()) {
      results.push(await run(file, lane, number))
    }
  }
  const unstable: string[] = []
  try {
    await Promise.all(lanes.map(runLane))
    if (isRepeating) {
      for (const [index, { file, isPassed }] of results.entries()) {
        if (isPassed || controller.signal.aborted) continue
        console.log(`\nOnce more, alone: ${file}`)
        const again = await run(file, lanes[0] as Lane, 0)
        if (again.isPassed) unstable.push(file)
        results[index] = again
      }
    }
  } finally {
    clearTimeout(timer)
    for (const lane of lanes) lane.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  console.log(summary(results, unstable, postgres, (performance.now() - startedAt) / 1000))
  if (results.length < files.length || results.some(({ isPassed }) => !isPassed)) process.exitCode = 1
}
