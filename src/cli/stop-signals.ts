const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
export type StopSignal = (typeof signals)[number]

/** Resolves with the first stop signal. A second one ends the process immediately. */
export function stopSignal(handled: readonly StopSignal[] = signals): Promise<StopSignal> {
  return new Promise((resolve) => {
    let isStopping = false
    for (const signal of handled) {
      process.on(signal, () => {
        if (isStopping) endProcess(signal)
        isStopping = true
        resolve(signal)
      })
    }
  })
}

/** Ends the process by the system's own handling of a signal: `process.exit` would wait for threads that run statements. */
export function endProcess(signal: StopSignal): void {
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
}
