import type { MarkListener } from './listener.ts'
import { Violation } from './view.ts'

/** `unknown`: the connection ended before the answer came. */
export type Result = 'done' | 'refused' | 'unknown'

/** The marks that were written, and those that a listener that is always connected has received. */
export class Marks implements MarkListener {
  #count = 0
  readonly #results = new Map<string, Result>()
  readonly #received = new Set<string>()
  readonly #excused = new Set<string>()
  #problem: string | undefined

  next(): string {
    return `mark ${++this.#count}`
  }

  settle(mark: string, result: Result): void {
    this.#results.set(mark, result)
    if (result === 'refused' && this.#received.has(mark)) this.#problem ??= `${mark} was refused, but received`
  }

  received(mark: string): void {
    this.#received.add(mark)
    if (this.#results.get(mark) === 'refused') this.#problem ??= `${mark} was refused, but received`
  }

  /** Events may have been missed, and the listener received `reset`. */
  missed(): void {
    for (let number = 1; number <= this.#count; number++) this.#excused.add(`mark ${number}`)
  }

  acknowledged(): readonly string[] {
    return [...this.#results].filter(([, result]) => result === 'done').map(([mark]) => mark)
  }

  mustBeReceived(marks: readonly string[]): void {
    const missing = marks.filter((mark) => !this.#received.has(mark) && !this.#excused.has(mark))
    if (missing.length > 0) this.#problem ??= `acknowledged, but never received: ${missing.join(', ')}`
  }

  checkAll(): void {
    this.mustBeReceived(this.acknowledged())
    this.check()
  }

  check(): void {
    if (this.#problem !== undefined) throw new Violation(this.#problem)
  }
}
