/** A frame at 60 Hz. A timer, because hidden pages and other runtimes have no frames. */
const frameMs = 16

const waiting = new Set<() => void>()

/** Calls the function once in a frame, however often it is asked for, and together with those of other stores. */
export function atNextFrame(call: () => void): void {
  if (waiting.size === 0) setTimeout(run, frameMs)
  waiting.add(call)
}

function run(): void {
  const calls = [...waiting]
  waiting.clear()
  for (const one of calls) one()
}
