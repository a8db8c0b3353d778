import { randomFillSync } from 'node:crypto'
import type { Clock } from '../support/clock.ts'

/** Random bytes are read for many ids at once, because one read costs more than one id. */
const idsPerRefill = 128
const bytesPerId = 10
const counters = 0x1000

/** '00' to 'ff'. */
const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/**
 * Generates UUIDs of version 7 (RFC 9562): milliseconds, a counter within the millisecond, and random bits. Each is greater
 * than the previous one, also when the clock goes back, so that new records are appended to indexes.
 */
export function createUuids(clock: Clock): () => string {
  const random = new Uint8Array(idsPerRefill * bytesPerId)
  let used = random.length
  let lastMs = 0
  let time = ''
  let counter = 0

  function startAt(ms: number, first: number): void {
    const digits = ms.toString(16).padStart(12, '0')
    time = `${digits.slice(0, 8)}-${digits.slice(8)}`
    lastMs = ms
    counter = first
  }

  return () => {
    if (used === random.length) {
      randomFillSync(random)
      used = 0
    }
    const byte = (index: number): number => random[used + index] as number
    const nowMs = clock.now()
    // The counter starts in its lower half, so that it can be incremented.
    if (nowMs > lastMs) startAt(nowMs, ((byte(0) & 0x07) << 8) | byte(1))
    else if (counter + 1 < counters) counter++
    else startAt(lastMs + 1, 0)

    const version = `${hex[0x70 | (counter >> 8)]}${hex[counter & 0xff]}`
    const variant = `${hex[0x80 | (byte(2) & 0x3f)]}${hex[byte(3)]}`
    let rest = ''
    for (let index = 4; index < bytesPerId; index++) rest += hex[byte(index)]
    used += bytesPerId
    return `${time}-${version}-${variant}-${rest}`
  }
}
