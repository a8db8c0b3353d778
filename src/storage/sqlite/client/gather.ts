/** Turns of the event loop, and the time, in which further writes may join a commit before it begins. */
const maxTurns = 8
const maxMs = 5

/**
 * Calls `begin` in a later turn of the event loop. A commit takes the time of some twenty writes, so those that arrive
 * together share one: as long as each turn brings further writes, the next is awaited as well. A write that comes alone waits
 * for one more turn.
 */
export function gather(writes: readonly unknown[], begin: () => void): void {
  const begunAt = performance.now()
  const wait = (gathered: number, turns: number): void => {
    setImmediate(() => {
      const now = writes.length
      if (now > gathered && turns < maxTurns && performance.now() - begunAt < maxMs) wait(now, turns + 1)
      else begin()
    })
  }
  wait(0, 0)
}
