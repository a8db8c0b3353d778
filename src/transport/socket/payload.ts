import type { EngineVersion } from './packet.ts'
import { type Refusal, refusals } from './refusal.ts'

/** Between the packets of a payload, in version 4. JSON does not contain it. */
const separator = '\x1e'
/** Before each packet in version 3: its length in UTF-16 code units. */
const header = /(\d{1,10}):/y
/** So many are read in about a millisecond. */
const packetsOfPart = 100

/**
 * A body of long polling as parts of whole packets, because the library reads what it is given at once: a megabyte of small
 * packets would take tens of milliseconds. After the first error, the library reads no more.
 */
export function splitPayload(payload: string, version: EngineVersion, maxPackets: number): Refusal | readonly string[] {
  const parts: string[] = []
  let packets = 0
  let begin = 0
  for (let at = 0; at < payload.length; ) {
    const end = version === 4 ? endBySeparator(payload, at) : endByLength(payload, at)
    if (end === undefined) return refusals.payload
    if (++packets > maxPackets) return refusals.packets
    at = version === 4 ? end + 1 : end
    if (packets % packetsOfPart === 0 && at < payload.length) {
      parts.push(payload.slice(begin, end))
      begin = at
    }
  }
  parts.push(payload.slice(begin))
  return parts
}

function endBySeparator(payload: string, from: number): number {
  const at = payload.indexOf(separator, from)
  return at === -1 ? payload.length : at
}

/** Undefined: no length. It may be longer than what follows, which the library reports. */
function endByLength(payload: string, from: number): number | undefined {
  header.lastIndex = from
  const length = header.exec(payload)?.[1]
  return length === undefined ? undefined : header.lastIndex + Number(length)
}
