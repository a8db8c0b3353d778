import type { Populate } from '../criteria/criteria.ts'
import { type Attribute, type HasMany, type ManyToMany, type Model, originalOf } from '../model/model.ts'
import { type InvalidAttributes, ServiceError, type Violation } from '../protocol/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { nearest } from '../support/nearest.ts'
import { readAnswerPopulate } from './find-input.ts'
import { assertMayWriteMembers, type Members, readMembers, splitMembers } from './member-values.ts'
import type { LaterValue, OperationServices, ParameterValues } from './operation.ts'
import { mayBeValue, noParameters, reserved } from './parameters.ts'
import { valueFromText } from './value-from-text.ts'

/** The values given for a record: values of attributes, members of associations, and records to create with it. */
export interface RecordValues {
  readonly values: ReadonlyMap<string, Json>
  /** New records that to-one associations will refer to. */
  readonly parents: readonly NewParent[]
  readonly members: readonly MemberValues[]
  /** Values that are known only when the record is written. Undefined: none. */
  readonly later?: ReadonlyMap<Attribute, LaterValue> | undefined
}

export interface NewParent {
  readonly attribute: Attribute
  readonly model: Model
  readonly record: RecordValues
}

/** Existing and new members of an association. */
export interface MemberValues extends Members {
  readonly created: readonly RecordValues[]
}

const none: readonly never[] = []

/** What a write of one record is given: its values, and what the answer embeds. */
export type RecordInput = ReadValues & { readonly populate: readonly Populate[] }

/** Values that were read. */
export interface ReadValues extends RecordValues {
  /** What could not be read, such as unknown names. It is reported when the record is prepared, with the values that are invalid. */
  readonly refused?: InvalidAttributes | undefined
}

export function readRecordInput(
  parameters: ParameterValues,
  model: Model,
  services: OperationServices,
  options: ReadValuesOptions,
): RecordInput {
  const { values, parents, members, later, refused } = readValues(parameters, model, services, options)
  const embeds = parameters.populates || parameters.query !== noParameters
  const populate = embeds ? readAnswerPopulate(parameters, model, services) : none
  return { values, parents, members, later, refused, populate }
}

interface ReadValuesOptions {
  /** Whether the record's own key is read or ignored. */
  readonly withKey: boolean
  /** Whether names like the unknown ones are looked for, as they are by default: those of one record of a list are enough. */
  readonly suggests?: boolean
}

/**
 * Reads the values given for a record, the body's before the query string's. A record as a find returned it is accepted:
 * timestamps of the service are ignored, and an embedded record counts as its id. An embedded object without a key is a
 * new record, which is created with this one.
 */
export function readValues(
  { query, body, mayWrite, laterValue, hasTextBody = false }: ParameterValues,
  model: Model,
  services: OperationServices,
  { withKey, suggests = true }: ReadValuesOptions,
): ReadValues {
  if (query === noParameters && !mayWrite && !laterValue && !hasTextBody) {
    const values = plainValues(body, model, withKey)
    if (values) return { values, parents: none, members: none }
  }
  const reader = new ValueReader(services, mayWrite, laterValue, suggests ? maxCompared : 0)
  const reading = newContext(model, withKey, '')
  for (const name of Object.keys(query)) {
    const isValue = mayBeValue(name) && (!reserved.has(name) || isWritable(name, model, mayWrite))
    if (isValue) reader.take(name, query[name] as Json, true, reading)
  }
  reader.takeAll(body, hasTextBody, reading)
  return { ...valuesOf(reading), refused: reader.refused }
}

/**
 * The values of a body that names attributes alone, and no new records; undefined for any other body. Code in the same process
 * may give undefined for a value: it is omitted, as in JSON.
 */
function plainValues(body: JsonObject, model: Model, withKey: boolean): ReadonlyMap<string, Json> | undefined {
  const values = new Map<string, Json>()
  for (const name of Object.keys(body)) {
    const raw = body[name]
    if (raw === undefined) continue
    const attribute = model.attributes.get(name)
    if (!attribute || (attribute.references && isJsonObject(raw))) return undefined
    if (attribute.autoCreatedAt || attribute.autoUpdatedAt || (attribute.isPrimaryKey && !withKey)) continue
    values.set(name, attribute.emptyIsNull && raw === '' ? null : raw)
  }
  return values
}

/** A record while it is read. */
interface ReadContext {
  readonly model: Model
  readonly withKey: boolean
  /** The place in the body, such as `pets.0.`, for messages. */
  readonly path: string
  readonly values: Map<string, Json>
  readonly parents: Map<string, NewParent>
  readonly members: Map<string, MemberValues>
  later: Map<Attribute, LaterValue> | undefined
}

const newContext = (model: Model, withKey: boolean, path: string): ReadContext => ({
  model,
  withKey,
  path,
  values: new Map(),
  parents: new Map(),
  members: new Map(),
  later: undefined,
})

const valuesOf = ({ values, parents, members, later }: ReadContext): RecordValues => ({
  values,
  parents: [...parents.values()],
  members: [...members.values()],
  later,
})

/** Reads one record and the new records in it. */
class ValueReader {
  readonly #services: OperationServices
  readonly #mayWrite: ParameterValues['mayWrite']
  readonly #laterValue: ParameterValues['laterValue']
  readonly #invalid: Record<string, readonly Violation[]> = Object.create(null)
  /** What may still be compared for suggestions. */
  #pairsLeft: number
  #unknown = 0
  #created = 0

  constructor(
    services: OperationServices,
    mayWrite: ParameterValues['mayWrite'],
    laterValue: ParameterValues['laterValue'],
    maxCompared: number,
  ) {
    this.#services = services
    this.#mayWrite = mayWrite
    this.#laterValue = laterValue
    this.#pairsLeft = maxCompared
  }

  takeAll(record: JsonObject, isText: boolean, reading: ReadContext): void {
    for (const name of Object.keys(record)) {
      const given = record[name]
      if (given !== undefined) this.take(name, given, isText, reading)
    }
  }

  /** Reads one value. `isText` tells that the format has texts only. */
  take(name: string, given: Json, isText: boolean, reading: ReadContext): void {
    const { model, withKey, path, values, parents, members } = reading
    const attribute = attributeToWrite(name, model, this.#mayWrite)
    const association = model.associations.get(name)
    if (attribute) {
      if (attribute.autoCreatedAt || attribute.autoUpdatedAt || (attribute.isPrimaryKey && !withKey)) return
      const raw = isText ? valueFromText(given, attribute, model, this.#services.limits) : given
      const later = this.#laterValue && isJsonObject(raw) ? this.#laterValue(raw) : undefined
      // An association that the requester may not read takes a key: its records have names that may be unknown to it.
      const target = association?.target ?? (model.original ? undefined : attribute.references)
      if (later) {
        reading.later ??= new Map()
        reading.later.set(attribute, later)
        values.delete(name)
        parents.delete(name)
      } else if (!target || !isJsonObject(raw)) {
        values.set(name, attribute.emptyIsNull && raw === '' ? null : raw)
        parents.delete(name)
      } else if (isNewRecord(raw, target)) {
        const record = this.#new(raw, target, isText, `${path}${name}.`)
        if (record) parents.set(name, { attribute, model: target, record })
        values.delete(name)
      } else {
        values.set(name, raw[target.primaryKey.name] as Json)
        parents.delete(name)
      }
    } else if (association && association.kind !== 'belongsTo') {
      assertMayWriteMembers(association, model, this.#mayWrite)
      const read = this.#members(given, association, isText, `${path}${name}`)
      if (read) members.set(name, read)
    } else if (name !== 'id' && this.#services.unknownAttributes === 'refuse') this.#refuseUnknown(name, model, path)
  }

  get refused(): InvalidAttributes | undefined {
    return Object.keys(this.#invalid).length > 0 ? this.#invalid : undefined
  }

  #members(raw: Json, association: HasMany | ManyToMany, isText: boolean, path: string): MemberValues | undefined {
    const { target } = association
    const { existing, added } = splitMembers(raw, (item): item is JsonObject => isNewRecord(item, target))
    const created = added.map((item, index) => this.#new(item, target, isText, `${path}.${index}.`))
    const read = readMembers(existing, association, this.#services.limits.maxAssociated)
    if ('ids' in read) return { ...read, created: created.filter((record) => record !== undefined) }
    this.#invalid[path] = [read]
    return undefined
  }

  /** The values of a new record; undefined if the request would create too many. */
  #new(raw: JsonObject, model: Model, isText: boolean, path: string): RecordValues | undefined {
    const { maxAssociated } = this.#services.limits
    if (++this.#created <= maxAssociated) {
      const reading = newContext(model, true, path)
      this.takeAll(raw, isText, reading)
      return valuesOf(reading)
    }
    this.#invalid[path.slice(0, path.indexOf('.'))] = [
      { rule: 'maxAssociated', message: `creates more than ${maxAssociated} records` },
    ]
    return undefined
  }

  #refuseUnknown(name: string, model: Model, path: string): void {
    if (++this.#unknown > maxReportedNames) return
    if (model.computed.has(name)) {
      this.#invalid[path + name] = [{ rule: 'readOnly', message: 'is computed and cannot be written' }]
      return
    }
    const shown = name.slice(0, maxReportedLength)
    const near = this.#suggestion(shown, model)
    const hint = near === undefined ? '' : `; did you mean "${near}"?`
    this.#invalid[path + shown] = [{ rule: 'unknown', message: `is not an attribute of ${model.name}${hint}` }]
  }

  #suggestion(name: string, model: Model): string | undefined {
    const known = writableNames(model)
    this.#pairsLeft -= name.length * known.join('').length
    return this.#pairsLeft < 0 ? undefined : nearest(name, known)
  }
}

/** The attribute of this name if the requester may write it. Throws E_FORBIDDEN for one that it may only read. */
function attributeToWrite(name: string, model: Model, mayWrite: ParameterValues['mayWrite']): Attribute | undefined {
  const attribute = originalOf(model).attributes.get(name)
  if (!attribute || !mayWrite || mayWrite(attribute)) return attribute
  if (attribute.hidden || !model.attributes.has(name)) return undefined
  throw new ServiceError('E_FORBIDDEN', `You may not write "${name}" of ${model.name}`, { attribute: name })
}

const isWritable = (name: string, model: Model, mayWrite: ParameterValues['mayWrite']): boolean =>
  attributeToWrite(name, model, mayWrite) !== undefined || model.associations.has(name)

/** An object without a key is a new record. */
const isNewRecord = (raw: Json, target: Model): raw is JsonObject =>
  isJsonObject(raw) && (raw[target.primaryKey.name] ?? null) === null

const writableNames = (model: Model): readonly string[] => [
  ...[...model.attributes.values()].filter(({ hidden }) => !hidden).map(({ name }) => name),
  ...model.associations.keys(),
]

/** A body of many or long unknown names gets a short answer. */
const maxReportedNames = 50
const maxReportedLength = 100
/** Pairs of letters that are compared for suggestions, which takes milliseconds. */
const maxCompared = 1_000_000

/** E_INVALID_ATTRIBUTES with a message about the first attributes. */
export function invalidRecord(model: Model, invalidAttributes: InvalidAttributes): ServiceError {
  const names = Object.keys(invalidAttributes).slice(0, 5)
  const message = names.map((name) => `"${name.slice(0, 60)}" ${invalidAttributes[name]?.[0]?.message}`).join('; ')
  return new ServiceError('E_INVALID_ATTRIBUTES', message, { model: model.name, invalidAttributes })
}
