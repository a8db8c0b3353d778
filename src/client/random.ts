/** An unguessable text. `crypto.randomUUID` exists on secure origins only. */
export const randomId = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-')
