import { randomFillSync } from 'node:crypto'
import type { Clock } from '../support/clock.ts'

/** Random bytes are fetched for many ids at once: asking the system costs more than the id. */
const idsPerRefill = 128
const bytesPerId = 10
const counters = 0x1000

/**
 * Makes UUIDs of version 7 (RFC 9562): milliseconds, then a counter within the millisecond, then chance. Each is larger
 * than the one before, also when the clock goes back, so that new records come last in every index.
 */
export function createUuids(clock: Clock): () => string {
  const chance = Buffer.alloc(idsPerRefill * bytesPerId)
  let used = chance.length
  let lastMs = 0
  let counter = 0

  return () => {
    if (used === chance.length) {
      randomFillSync(chance)
      used = 0
    }
    const nowMs = clock.now()
    if (nowMs > lastMs) {
      lastMs = nowMs
      // It starts in the lower half, so that there is room to count.
      counter = chance.readUInt16BE(used) & 0x7ff
    } else if (++counter === counters) {
      lastMs++
      counter = 0
    }
    const time = lastMs.toString(16).padStart(12, '0')
    const version = (0x7000 | counter).toString(16)
    const variant = ((chance.readUInt16BE(used + 2) & 0x3fff) | 0x8000).toString(16)
    const rest = chance.toString('hex', used + 4, used + bytesPerId)
    used += bytesPerId
    return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}-${rest}`
  }
}
