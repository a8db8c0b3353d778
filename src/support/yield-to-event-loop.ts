/** Resolves after pending I/O callbacks and timers have run. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
