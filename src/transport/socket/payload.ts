import type { EngineVersion } from './packet.ts'
import { type Refusal, refusals } from './refusal.ts'

/** Between the packets of a payload, in version 4. JSON does not contain it. */
export const separator = '\x1e'
/** Before each packet in version 3: its length in UTF-16 code units. */
const header = /(\d{1,10}):/y
/** So many packets, and so many characters of short ones, are read in about a millisecond. */
const packetsOfPart = 100
const charactersOfPart = 65_536

/**
 * A body of long polling as parts of whole packets, because the library reads what it is given at once: a megabyte of small
 * packets would take tens of milliseconds. After the first error, the library reads no more.
 */
export function splitPayload(payload: string, version: EngineVersion, maxPackets: number): Refusal | readonly string[] {
  const parts: string[] = []
  let packets = 0
  let part = { begin: 0, end: 0, packets: 0 }
  for (let at = 0; at < payload.length; ) {
    const end = version === 4 ? endBySeparator(payload, at) : endByLength(payload, at)
    if (end === undefined) return refusals.payload
    if (++packets > maxPackets) return refusals.packets
    if (part.packets === packetsOfPart || (part.packets > 0 && end - part.begin > charactersOfPart)) {
      parts.push(copyOf(payload.slice(part.begin, part.end)))
      part = { begin: at, end: at, packets: 0 }
    }
    part.packets++
    part.end = end
    at = version === 4 ? end + 1 : end
  }
  parts.push(part.begin === 0 ? payload : copyOf(payload.slice(part.begin)))
  return parts
}

/** Of which messages may wait longer than the rest of the payload, which they would keep in memory. */
const copyOf = (text: string): string => Buffer.from(text).toString()

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
