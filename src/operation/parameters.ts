import type { Model } from '../model/model.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { ParameterValues } from './operation.ts'

/** A name that says how a request is to be answered. It may be sent in the query string and in the body. */
export interface Parameter {
  readonly name: string
  /** For documentation: what it takes and what it does. */
  readonly doc: string
}

export const where: Parameter = { name: 'where', doc: 'a JSON condition, used instead of filters by attribute' }
export const limit: Parameter = { name: 'limit', doc: 'the largest number of records to return' }
export const skip: Parameter = { name: 'skip', doc: 'the number of records to pass over' }
export const sort: Parameter = { name: 'sort', doc: 'attributes and directions, such as `name DESC, age`' }
export const select: Parameter = { name: 'select', doc: 'the attributes to return' }
export const omit: Parameter = { name: 'omit', doc: 'the attributes and associations to leave out' }
export const populate: Parameter = { name: 'populate', doc: 'the associations to embed, with options, or `false`' }
export const count: Parameter = { name: 'count', doc: '`true`: the number of records on all pages is returned as well' }
export const cursor: Parameter = { name: 'cursor', doc: 'the place where a page begins, from the `Link` header' }

export const upsert: Parameter = {
  name: 'upsert',
  doc: 'a unique attribute: the record with its value is updated, or created if there is none',
}

/** The parameters for the content of a returned record. */
export const projectionParameters: readonly Parameter[] = [select, omit, populate]
/** All parameters of a list. */
export const listParameters: readonly Parameter[] = [where, sort, limit, skip, cursor, count, ...projectionParameters]
/** Read by the transport, on every route: the function of a JSONP answer, and what clients add to get past caches. */
export const transportParameters: readonly Parameter[] = [
  { name: 'callback', doc: 'the name of a function: the answer is a script that calls it (JSONP)' },
  { name: '_', doc: 'ignored; clients add it so that no cache answers' },
]

/** The parameters of a request without a query string, or without a body: the same object every time. */
export const noParameters: JsonObject = Object.freeze(Object.create(null))

export const namesOf = (parameters: readonly Parameter[]): ReadonlySet<string> =>
  new Set(parameters.map(({ name }) => name))

/** Names that are not attributes in an address. The body of a write may use them as such. */
export const reserved: ReadonlySet<string> = namesOf([...listParameters, ...transportParameters])

/** Those of reads. The write of one record does not use them. */
const ofReads: ReadonlySet<string> = namesOf([where, sort, limit, skip, cursor, count, select])

/** Whether a name in the query string of the write of one record may be that of a value. */
export const mayBeValue = (name: string): boolean => !reserved.has(name) || ofReads.has(name)

/** Whether a value is one of `count`. Others are filters by an attribute of this name, which Sails does not reserve. */
export const isCountFlag = (value: Json | undefined): boolean =>
  value === undefined || value === 'true' || value === true || value === 'false' || value === false

/** Whether a value given for a name is a filter by an attribute. */
export const isFilter = (name: string, value: Json | undefined, { attributes }: Model): boolean =>
  !reserved.has(name) || (name === count.name && !isCountFlag(value) && attributes.get(name)?.hidden === false)

/** The value a request gives for a name: the body's before the query string's. */
export const parameterValue = (
  { query, body }: ParameterValues,
  { name }: { readonly name: string },
): Json | undefined => (Object.hasOwn(body, name) ? body[name] : Object.hasOwn(query, name) ? query[name] : undefined)
