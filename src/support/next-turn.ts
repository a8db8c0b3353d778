/** Resolves when whatever else was waiting has had its turn: requests are read, answers written, timers called. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
