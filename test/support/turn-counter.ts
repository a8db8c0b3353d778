/** Counts the turns of the event loop until it is disposed of. */
export class TurnCounter implements Disposable {
  /** The number of the current turn. */
  turn = 0
  #immediate = setImmediate(() => this.#next())

  #next(): void {
    this.turn++
    this.#immediate = setImmediate(() => this.#next())
  }

  [Symbol.dispose](): void {
    clearImmediate(this.#immediate)
  }
}
