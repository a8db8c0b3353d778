import { eventLoopTurn } from './event-loop-turn.ts'
import { threadCpuMs } from './thread-cpu-ms.ts'

/** Less than what a turn of the event loop may take: the next chunk may cost more than the one before it. */
const chunkMs = 4
const firstSize = 10

/**
 * Runs `work` for chunks of the items, once a turn of the event loop has time for one. The first is small; those after it are as
 * large as the processor time of the one before allows, which does not count what a database of another process takes.
 */
export async function forEachChunkInTurns<T>(
  items: readonly T[],
  maxSize: number,
  work: (chunk: readonly T[]) => Promise<void>,
  cpuMs = threadCpuMs,
): Promise<void> {
  let size = Math.min(firstSize, maxSize)
  for (let from = 0; from < items.length; ) {
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    const chunk = items.slice(from, from + size)
    const begin = cpuMs()
    await work(chunk)
    const affordable = Math.floor((chunk.length * chunkMs) / (cpuMs() - begin))
    size = Math.max(1, Math.min(affordable, 2 * size, maxSize))
    from += chunk.length
  }
}
