import { fingerprint, type VersionHash } from '../../operation/version.ts'
import { ServiceError } from '../../protocol/errors.ts'
import { EncodedJson } from '../../protocol/json.ts'
import type { EncodedList } from '../../storage/encoding.ts'
import { answerTooLarge, listPieces, type Records, requireBytes } from '../../storage/store.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { Fingerprint } from '../../support/fingerprint.ts'
import type { KeyedHash } from '../../support/keyed-hash.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'

/** A longer answer is encoded in parts of about this many characters, between which other requests have their turn. */
const partLength = 65_536
/** As do answers of more records, embedded ones included. */
const maxRecordsAtOnce = 1_000

export interface Encoded {
  readonly body: EncodedJson
  /** The fingerprint of the whole text. */
  readonly whole: string
}

/** The records as a list; `hash` is one of the service. Throws E_BAD_CRITERIA when it has more than `maxBytes`. */
export function encodeRecords(records: Records, maxBytes: number, hash: KeyedHash): MaybePromise<Encoded> {
  const { length, encoded } = records
  if (encoded) return taken(encoded, length, maxBytes, hash)
  if (records.size > maxRecordsAtOnce) return encodePieces(listPieces(records, maxBytes), maxBytes)
  let text = '['
  for (let index = 0; index < length; index++) {
    const record = encodedAt(records, index, maxBytes)
    if (record === undefined) return encodePieces(rest(records, index, maxBytes), maxBytes, text)
    text += index === 0 ? record : `,${record}`
    if (text.length > partLength && index < length - 1)
      return encodePieces(rest(records, index + 1, maxBytes), maxBytes, text)
  }
  text += ']'
  requireBytes(text, maxBytes)
  return { body: new EncodedJson(text), whole: hash.of(text) ?? fingerprint(text) }
}

/** As it would have been encoded here: a short list is a text, with the hash of one. */
function taken({ parts, fingerprint }: EncodedList, size: number, maxBytes: number, hash: KeyedHash): Encoded {
  const bytes = parts.reduce((sum, { length }) => sum + length, 0)
  if (bytes > maxBytes) throw answerTooLarge(maxBytes)
  if (size <= maxRecordsAtOnce && bytes <= partLength * 3) {
    const text = Buffer.concat(parts).toString()
    if (text.length <= partLength) return { body: new EncodedJson(text), whole: hash.of(text) ?? fingerprint }
  }
  return { body: new EncodedJson(parts), whole: fingerprint }
}

/** Undefined: the members of the record are long together, though they are few. */
function encodedAt(records: Records, index: number, maxBytes: number): string | undefined {
  if (records.size === records.length) return records.encodeAt(index, maxBytes)
  try {
    return records.encodeAt(index, Math.min(partLength, maxBytes))
  } catch (error) {
    if (error instanceof ServiceError && error.details.limit === 'maxAnswerBytes') return undefined
    throw error
  }
}

/** The first of the records alone. */
export function encodeRecord(records: Records, maxBytes: number, versions: VersionHash): MaybePromise<Encoded> {
  if (records.size > maxRecordsAtOnce) return encodePieces(records.pieces(0, maxBytes), maxBytes)
  const text = encodedAt(records, 0, maxBytes)
  if (text === undefined) return encodePieces(records.pieces(0, maxBytes), maxBytes)
  if (text.length * 3 > maxBytes) requireBytes(text, maxBytes)
  if (text.length > partLength) return hashInTurns(text, versions)
  return { body: new EncodedJson(text), whole: versions.of(text) }
}

/**
 * The text was encoded in this turn, so that it is hashed in a later one. The stored record, whose version the caller adds, may be
 * another text as long: that one has a turn of its own, too.
 */
async function hashInTurns(text: string, versions: VersionHash): Promise<Encoded> {
  if (eventLoopTurn.isUsed) await eventLoopTurn.next()
  const encoded = { body: new EncodedJson(text), whole: versions.of(text) }
  if (eventLoopTurn.isUsed) await eventLoopTurn.next()
  return encoded
}

export const encodeText = (text: string): Encoded => ({ body: new EncodedJson(text), whole: fingerprint(text) })

function* rest(records: Records, from: number, maxBytes: number): Iterable<string> {
  for (let index = from; index < records.length; index++) {
    if (index > 0) yield ','
    yield* records.pieces(index, maxBytes)
  }
  yield ']'
}

async function encodePieces(pieces: Iterable<string>, maxBytes: number, begun?: string): Promise<Encoded> {
  const fingerprint = new Fingerprint()
  const body = await encodeInParts(pieces, maxBytes, begun, (part) => fingerprint.add(part))
  return { body, whole: fingerprint.end() }
}

/** A long text that is made in pieces, in several turns of the event loop. Throws E_BAD_CRITERIA when it has more than `maxBytes`. */
export async function encodeInParts(
  pieces: Iterable<string>,
  maxBytes: number,
  begun = '',
  onPart: (part: Uint8Array) => void = () => {},
): Promise<EncodedJson> {
  const parts: Uint8Array[] = []
  let bytes = 0
  let text = begun
  const add = (): void => {
    const part = Buffer.from(text)
    bytes += part.length
    if (bytes > maxBytes) throw answerTooLarge(maxBytes)
    onPart(part)
    parts.push(part)
    text = ''
  }
  for (const piece of pieces) {
    text += piece
    if (text.length < partLength) continue
    add()
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
  }
  if (text !== '') add()
  return new EncodedJson(parts)
}
