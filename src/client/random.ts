/** An unguessable text. `crypto.randomUUID` exists on secure origins only. */
export const randomId = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-')

/** The delay before the next attempt: it doubles with each failure, and is spread so that clients do not return at once. */
export const retryDelay = (failures: number, [from, to]: readonly [number, number] = [250, 15_000]): number =>
  Math.min(to, from * 2 ** failures) * (0.5 + Math.random() / 2)
