import type { Model } from '../model/model.ts'
import { isBytes } from '../support/is-bytes.ts'
import type { Row } from './driver.ts'
import { tooLargeAffected, tooManyAffected } from './too-many-affected.ts'

export interface AffectedLimits {
  readonly maxAffected: number
  readonly maxAffectedBytes: number
}

/** What one transaction has changed so far. */
export class Affected {
  readonly #limits: AffectedLimits
  #rows = 0
  #bytes = 0

  constructor(limits: AffectedLimits) {
    this.#limits = limits
  }

  get rowsLeft(): number {
    return this.#limits.maxAffected - this.#rows
  }

  /** Throws E_CONFLICT if the transaction would change more rows, or more bytes, than it may. */
  require(model: Model, rows: number, bytes = 0): void {
    const { maxAffected, maxAffectedBytes } = this.#limits
    if (this.#rows + rows > maxAffected) throw tooManyAffected(model, maxAffected)
    if (this.#bytes + bytes > maxAffectedBytes) throw tooLargeAffected(model, maxAffectedBytes)
  }

  /** Counts rows before they are changed: statements of other rows may be sent before the result of this one arrives. */
  add(rows: number): void {
    this.#rows += rows
  }

  /** Counts the bytes of rows that were changed. */
  addRows(model: Model, rows: readonly Row[]): void {
    for (const row of rows)
      for (const value of row) if (typeof value === 'string' || isBytes(value)) this.#bytes += value.length
    this.require(model, 0)
  }
}
