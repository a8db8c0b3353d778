import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
export type StopSignal = (typeof signals)[number]

/** Resolves with the first signal to stop. The second ends the process at once: somebody does not want to wait. */
export function stopSignal(wanted: readonly StopSignal[] = signals): Promise<StopSignal> {
  return new Promise((resolve) => {
    let isStopping = false
    for (const signal of wanted) {
      process.on(signal, () => {
        if (isStopping) process.exit(128 + constants.signals[signal])
        isStopping = true
        resolve(signal)
      })
    }
  })
}
