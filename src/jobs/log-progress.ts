import type { Position } from '../protocol/change.ts'

/** An operation of the log with events of a job. */
export interface OperationProgress {
  readonly position: Position
  /** Its events that neither a run nor a stored row has settled. */
  open: number
}

/** Finds the position up to which every event is settled, although runs of different records end in any order. */
export class LogProgress {
  readonly #operations: OperationProgress[] = []
  #settled: Position

  constructor(position: Position) {
    this.#settled = position
  }

  add(position: Position, open: number): OperationProgress {
    const operation = { position, open }
    this.#operations.push(operation)
    return operation
  }

  /** The position that may be stored: a process that continues there runs every event that is not settled. */
  get settled(): Position {
    let count = 0
    while (this.#operations[count]?.open === 0) count++
    const [last] = this.#operations.splice(0, count).slice(-1)
    if (last) this.#settled = last.position
    return this.#settled
  }
}
