import { relative } from 'node:path'
import type { Explanation } from '../explain.ts'
import { shown } from '../explain-import.ts'
import { progressLine } from '../progress-line.ts'
import type { Screen } from '../screen.ts'
import { duration, type Ready, readyEvent, showReady, summarize } from '../summary.ts'
import { type Exited, howItEnded } from '../workers/worker.ts'

/** What `keelson dev` shows. */
export class DevScreen {
  readonly #screen: Screen
  readonly #folder: string
  readonly progress: (done: number, total: number) => void

  constructor(screen: Screen, folder: string) {
    this.#screen = screen
    this.#folder = folder
    this.progress = progressLine('Seeding', screen)
  }

  /** It serves: the whole summary at first, later a line about what the change has done. */
  serving(ready: Ready, before: Ready | undefined, changed: readonly string[], ms: number): void {
    const { line, event, paint } = this.#screen
    if (!before) {
      event(readyEvent(ready))
      const folder = shown(this.#folder)
      showReady(ready, this.#screen, `Watching ${folder === '.' ? 'this folder' : folder}. Ctrl+C stops.`)
      return
    }
    event({ event: 'changed', files: this.#names(changed), steps: ready.steps, url: ready.url, ms: Math.round(ms) })
    const what = summarize(ready.steps) || 'read anew'
    const moved = ready.url === before.url ? '' : `   ${paint(['cyan', 'underline'], ready.url)}`
    line(
      `  ${paint('green', '✎')} ${paint('bold', this.#summary(changed))}   ${what}   ${paint('dim', duration(ms))}${moved}`,
    )
  }

  /** Everything that is wrong, at once. `still` is what goes on serving meanwhile. */
  broken(explanation: Explanation, changed: readonly string[], still: Ready | undefined): void {
    const { line, event, paint } = this.#screen
    const { message, problems, advice } = explanation
    event({ event: 'broken', files: this.#names(changed), message, problems, serving: still?.url ?? null })
    const where = changed.length === 0 ? '' : `${paint('bold', this.#summary(changed))}   `
    line(`  ${paint('red', '✗')} ${where}${message}`)
    for (const problem of problems) line(`      ${problem}`)
    if (advice !== undefined) line(`    ${paint('dim', advice)}`)
    const meanwhile = still ? `${still.url} goes on with what was there before` : 'Nothing is served'
    line(`    ${paint('dim', `${meanwhile}; waiting for the next save.`)}`)
  }

  ended(exited: Exited): void {
    const { line, event, paint } = this.#screen
    event({ event: 'ended', code: exited.code, signal: exited.signal })
    const how = howItEnded(exited)
    line(`  ${paint('red', '✗')} The service has ended by itself, with ${how}; waiting for the next save.`)
  }

  #names(files: readonly string[]): readonly string[] {
    return files.map((file) => relative(this.#folder, file))
  }

  #summary(files: readonly string[]): string {
    const [first = 'again', ...others] = this.#names(files)
    return others.length === 0 ? first : `${first} and ${others.length} more`
  }
}
