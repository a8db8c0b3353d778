import type { Witnessed } from './listener.ts'
import { Violation } from './view.ts'

/** `unknown`: the connection ended before the answer came. */
export type Result = 'done' | 'refused' | 'unknown'

/** What was written, and what of it somebody who is always there has heard. */
export class Marks implements Witnessed {
  #count = 0
  readonly #results = new Map<string, Result>()
  readonly #heard = new Set<string>()
  readonly #excused = new Set<string>()
  #problem: string | undefined

  next(): string {
    return `mark ${++this.#count}`
  }

  settle(mark: string, result: Result): void {
    this.#results.set(mark, result)
    if (result === 'refused' && this.#heard.has(mark)) this.#problem ??= `${mark} was refused, and heard all the same`
  }

  heard(mark: string): void {
    this.#heard.add(mark)
    if (this.#results.get(mark) === 'refused') this.#problem ??= `${mark} was refused, and heard all the same`
  }

  /** Changes may have been missed, and whoever listens was told so. */
  missed(): void {
    for (let number = 1; number <= this.#count; number++) this.#excused.add(`mark ${number}`)
  }

  acknowledged(): readonly string[] {
    return [...this.#results].filter(([, result]) => result === 'done').map(([mark]) => mark)
  }

  mustBeHeard(marks: readonly string[]): void {
    const missing = marks.filter((mark) => !this.#heard.has(mark) && !this.#excused.has(mark))
    if (missing.length > 0) this.#problem ??= `acknowledged, and never heard of: ${missing.join(', ')}`
  }

  checkAll(): void {
    this.mustBeHeard(this.acknowledged())
    this.check()
  }

  check(): void {
    if (this.#problem !== undefined) throw new Violation(this.#problem)
  }
}
