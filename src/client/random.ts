let last = 0

/**
 * An unguessable text. It begins with the time in milliseconds, so that later ones of a page are greater.
 * `crypto.randomUUID` exists on secure origins only.
 */
export function randomId(): string {
  last = Math.max(last + 1, Date.now())
  return [last, ...crypto.getRandomValues(new Uint32Array(4))].join('-')
}
