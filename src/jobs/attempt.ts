/** A timer of Node for a longer time ends at once. */
const longestTimerMs = 2 ** 31 - 1

/** Runs once. Resolves with the error, or undefined. A run that ignores its signal may go on after its time. */
export async function attempt(
  run: (signal: AbortSignal) => unknown,
  { stop, timeoutMs }: { readonly stop: AbortSignal; readonly timeoutMs: number },
): Promise<{ readonly error: unknown } | undefined> {
  const controller = new AbortController()
  const overdue = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => {
      const error = new Error(`The run took longer than ${timeoutMs} ms`)
      controller.abort(error)
      overdue.reject(error)
    },
    Math.min(timeoutMs, longestTimerMs),
  )
  const abort = () => {
    // The run may never end: it must not keep the process.
    timer.unref()
    controller.abort(stop.reason)
  }
  if (stop.aborted) abort()
  stop.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([(async () => run(controller.signal))(), overdue.promise])
    return undefined
  } catch (error) {
    return { error }
  } finally {
    clearTimeout(timer)
    stop.removeEventListener('abort', abort)
  }
}
