import { randomFillSync } from 'node:crypto'
import type { Clock } from '../support/clock.ts'

/** Random bytes are fetched for many ids at once: asking the system costs more than the id. */
const idsPerRefill = 128
const bytesPerId = 10
const counters = 0x1000

/** '00' to 'ff'. */
const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/**
 * Makes UUIDs of version 7 (RFC 9562): milliseconds, then a counter within the millisecond, then chance. Each is larger
 * than the one before, also when the clock goes back, so that new records come last in every index.
 */
export function createUuids(clock: Clock): () => string {
  const chance = new Uint8Array(idsPerRefill * bytesPerId)
  let used = chance.length
  let lastMs = 0
  let time = ''
  let counter = 0

  function moveTo(ms: number, startAt: number): void {
    const digits = ms.toString(16).padStart(12, '0')
    time = `${digits.slice(0, 8)}-${digits.slice(8)}`
    lastMs = ms
    counter = startAt
  }

  return () => {
    if (used === chance.length) {
      randomFillSync(chance)
      used = 0
    }
    const byte = (index: number): number => chance[used + index] as number
    const nowMs = clock.now()
    // The counter starts in its lower half, so that there is room to count.
    if (nowMs > lastMs) moveTo(nowMs, ((byte(0) & 0x07) << 8) | byte(1))
    else if (counter + 1 < counters) counter++
    else moveTo(lastMs + 1, 0)

    const version = `${hex[0x70 | (counter >> 8)]}${hex[counter & 0xff]}`
    const variant = `${hex[0x80 | (byte(2) & 0x3f)]}${hex[byte(3)]}`
    let rest = ''
    for (let index = 4; index < bytesPerId; index++) rest += hex[byte(index)]
    used += bytesPerId
    return `${time}-${version}-${variant}-${rest}`
  }
}
