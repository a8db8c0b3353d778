import type { OperationResult, RecordResult, RecordsResult } from '../../operation/operation.ts'
import { entityTag, listTag, type TagHashes, type VersionHash } from '../../operation/version.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json } from '../../protocol/json.ts'
import type { ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import { andThen, type MaybePromise } from '../../support/maybe-promise.ts'
import { type Encoded, encodeRecord, encodeRecords, encodeText } from './encode-records.ts'
import { isKnown } from './entity-tag.ts'
import { type ListRequest, nextPage } from './next-page.ts'
import type { Match } from './route.ts'

/** What of a request its answer depends on. */
type AnsweredRequest = ListRequest & Pick<ServiceRequest, 'headers'>

/** How results become texts. */
export interface AnswerEncoding {
  readonly maxBytes: number
  readonly hashes: TagHashes
}

/** The result of an operation as a response, with these headers and its own. */
export function respond(
  result: OperationResult,
  request: AnsweredRequest,
  { style, operation }: Match,
  { maxBytes, hashes }: AnswerEncoding,
  headers: Record<string, string> = {},
): MaybePromise<ServiceResponse> {
  if (operation.effect === 'writes' && style === 'shortcut') headers['Cache-Control'] = 'no-store'
  switch (result.kind) {
    case 'empty':
      return { status: 204, headers }
    case 'action': {
      const { status, headers: own, body, stream } = result
      return { status, headers: { ...headers, 'Cache-Control': 'no-store', ...own }, body, stream }
    }
    case 'json':
      return { status: result.created ? 201 : 200, headers, body: result.value }
    case 'records': {
      const encoded =
        operation.effect === 'reads'
          ? encodeRecords(result.records, maxBytes, hashes.list)
          : encodeAll(result, maxBytes, hashes)
      if (result.total !== undefined) headers['X-Total-Count'] = String(result.total)
      if (result.next !== undefined) headers.Link = `<${nextPage(request, result.next)}>; rel="next"`
      const status = result.created ? 201 : 200
      return andThen(encoded, (encoded) => tagged(status, headers, encoded, listTag(encoded.whole), request, operation))
    }
    case 'record': {
      const { records, stored, created } = result
      const encoded =
        operation.effect === 'reads'
          ? encodeRecord(records, maxBytes, hashes.record)
          : encodeWritten(result, maxBytes, hashes.record)
      const status = created ? 201 : 200
      if (encoded instanceof Promise)
        return encoded.then((encoded) =>
          tagged(
            status,
            headers,
            encoded,
            entityTag(encoded.whole, stored, records, hashes.record),
            request,
            operation,
          ),
        )
      return tagged(
        status,
        headers,
        encoded,
        entityTag(encoded.whole, stored, records, hashes.record),
        request,
        operation,
      )
    }
  }
}

/** What was written is answered in any case: by the primary key alone, where the record is too large. */
function encodeWritten(
  { records, model: { primaryKey } }: RecordResult,
  maxBytes: number,
  versions: VersionHash,
): MaybePromise<Encoded> {
  const keyAlone = (error: unknown) => orKeys(error, { [primaryKey.name]: records.values(primaryKey)[0] as Json })
  try {
    const encoded = encodeRecord(records, maxBytes, versions)
    return encoded instanceof Promise ? encoded.catch(keyAlone) : encoded
  } catch (error) {
    return keyAlone(error)
  }
}

/** As `encodeWritten`, for a list. */
function encodeAll(
  { records, model: { primaryKey } }: RecordsResult,
  maxBytes: number,
  hashes: TagHashes,
): MaybePromise<Encoded> {
  const keysAlone = (error: unknown) =>
    orKeys(
      error,
      records.values(primaryKey).map((id) => ({ [primaryKey.name]: id })),
    )
  try {
    const encoded = encodeRecords(records, maxBytes, hashes.list)
    return encoded instanceof Promise ? encoded.catch(keysAlone) : encoded
  } catch (error) {
    return keysAlone(error)
  }
}

function orKeys(error: unknown, keys: Json): Encoded {
  if (!(error instanceof ServiceError)) throw error
  return encodeText(JSON.stringify(keys))
}

/** The response, or 304 for a read whose tag the client holds. */
function tagged(
  status: number,
  headers: Record<string, string>,
  { body }: Encoded,
  tag: string,
  request: AnsweredRequest,
  { effect, streams }: Match['operation'],
): ServiceResponse {
  headers.ETag = tag
  if (streams) headers.Vary = 'Accept'
  const known = effect === 'reads' ? request.headers['if-none-match'] : undefined
  if (known !== undefined && isKnown(tag, known)) return { status: 304, headers }
  return { status, headers, body }
}
