import { relative } from 'node:path'
import { describeStep } from '../../storage/schema-step.ts'
import type { ErrorReport } from '../error-report.ts'
import { displayPath } from '../import-error.ts'
import type { Output } from '../output.ts'
import { progressLine } from '../progress-line.ts'
import { duration, printSummary, type Ready, readyEvent, summarize } from '../summary.ts'
import { exitReason, type WorkerExit } from '../workers/worker.ts'

/** The output of `keelson dev`. */
export class DevOutput {
  readonly #output: Output
  readonly #folder: string
  readonly progress: (done: number, total: number) => void

  constructor(output: Output, folder: string) {
    this.#output = output
    this.#folder = folder
    this.progress = progressLine('Seeding', output)
  }

  /** A worker serves: prints the summary at first, and one line for every later change of the sources, with new warnings. */
  serving(ready: Ready, before: Ready | undefined, changed: readonly string[], ms: number): void {
    const { line, event, paint } = this.#output
    if (!before) {
      event(readyEvent(ready))
      const folder = displayPath(this.#folder)
      printSummary(ready, this.#output, `Watching ${folder === '.' ? 'this folder' : folder}. Press Ctrl+C to stop.`)
      return
    }
    event({
      event: 'changed',
      files: this.#names(changed),
      steps: ready.steps.map(describeStep),
      warnings: ready.warnings ?? [],
      url: ready.url,
      ms: Math.round(ms),
    })
    const what = summarize(ready.steps) || 'reloaded'
    const moved = ready.url === before.url ? '' : `   ${paint(['cyan', 'underline'], ready.url)}`
    line(
      `  ${paint('green', '✎')} ${paint('bold', this.#summary(changed))}   ${what}   ${paint('dim', duration(ms))}${moved}`,
    )
    for (const warning of ready.warnings ?? [])
      if (!before.warnings?.includes(warning)) line(`      ${paint('yellow', `Warning: ${warning}`)}`)
  }

  /** The configuration is invalid: prints all problems. `serving` is the previous version, if it keeps serving. */
  broken(report: ErrorReport, changed: readonly string[], serving: Ready | undefined): void {
    const { line, event, paint } = this.#output
    const { message, problems, advice } = report
    event({ event: 'broken', files: this.#names(changed), message, problems, serving: serving?.url ?? null })
    const where = changed.length === 0 ? '' : `${paint('bold', this.#summary(changed))}   `
    line(`  ${paint('red', '✗')} ${where}${message}`)
    for (const problem of problems) line(`      ${problem}`)
    if (advice !== undefined) line(`    ${paint('dim', advice)}`)
    const meanwhile = serving ? `${serving.url} keeps serving the previous version` : 'Nothing is served'
    line(`    ${paint('dim', `${meanwhile}; waiting for a change.`)}`)
  }

  exited(exit: WorkerExit): void {
    const { line, event, paint } = this.#output
    event({ event: 'exited', code: exit.code, signal: exit.signal })
    line(`  ${paint('red', '✗')} The service exited unexpectedly with ${exitReason(exit)}; waiting for a change.`)
  }

  #names(files: readonly string[]): readonly string[] {
    return files.map((file) => relative(this.#folder, file))
  }

  #summary(files: readonly string[]): string {
    const [first = 'restart', ...others] = this.#names(files)
    return others.length === 0 ? first : `${first} and ${others.length} more`
  }
}
