import { eventLoopTurn } from './event-loop-turn.ts'
import { threadCpuMs } from './thread-cpu-ms.ts'

/** Less than the limit of a turn, because the next chunk may take longer than the last one. */
const chunkMs = 4
const firstSize = 10

/**
 * Runs `work` for chunks of the items, each when the current turn of the event loop has time for it. The first chunk is small;
 * the size of later ones follows from the processor time of the one before, which does not include waiting for a remote database.
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
