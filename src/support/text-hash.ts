/** Random, so that a client cannot choose texts that collide. */
const seed = Math.floor(Math.random() * 2 ** 32)

/** A hash of 32 bits of a part of a text, for tables in the memory of this process (FNV-1a of its UTF-16 units). */
export function textHash(text: string, begin = 0, end = text.length): number {
  let hash = seed
  for (let at = begin; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash ^ (hash >>> 15)
}
