import assert from 'node:assert/strict'
import { type ErrorCode, errorStatus, errorTitle, type InvalidAttributes } from '../protocol/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import type { Answer, Api } from './scenario.ts'

/** The format of every timestamp in an answer. */
export const isoForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The address with a query string; values other than strings are written as JSON. */
export function address(path: string, query: Readonly<Record<string, Json>>): string {
  const pairs = Object.entries(query).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return `${encodeURIComponent(name)}=${encodeURIComponent(text)}`
  })
  return `${path}?${pairs.join('&')}`
}

/** The record of a successful answer. */
export function record(answer: Answer, status = 200): JsonObject {
  assert.equal(answer.status, status, answer.text)
  assert.ok(isJsonObject(answer.body), `not a record: ${answer.text}`)
  return answer.body
}

/** The records of a successful answer. */
export function list(answer: Answer): readonly JsonObject[] {
  assert.equal(answer.status, 200, answer.text)
  assert.ok(Array.isArray(answer.body) && answer.body.every(isJsonObject), `not a list of records: ${answer.text}`)
  return answer.body
}

/** One attribute of each record of a list. */
export const column = (answer: Answer, name: string): readonly (Json | undefined)[] =>
  list(answer).map((found) => found[name])

/** The problem document of a refusal, after a check of its members. */
export function refused(answer: Answer, code: ErrorCode, further: JsonObject = {}): JsonObject {
  assert.equal(answer.status, errorStatus[code], answer.text)
  assert.match(answer.header('content-type') ?? '', /^application\/problem\+json\b/)
  assert.ok(isJsonObject(answer.body), `not a problem document: ${answer.text}`)
  const { type, title, status, detail, ...rest } = answer.body
  assert.deepEqual(
    { type, title, status, code: rest.code },
    { type: 'about:blank', title: errorTitle[code], status: errorStatus[code], code },
  )
  assert.ok(typeof detail === 'string' && detail !== '', 'a problem document has a detail')
  for (const [name, value] of Object.entries(further)) assert.deepEqual(rest[name], value, `${name} of ${answer.text}`)
  return answer.body
}

/** Asserts a refusal for exactly these attributes, each with exactly these rules. */
export function invalid(answer: Answer, rules: Readonly<Record<string, readonly string[]>>): InvalidAttributes {
  const problem = refused(answer, 'E_INVALID_ATTRIBUTES')
  const found = (problem.invalidAttributes ?? {}) as InvalidAttributes
  const broken = Object.entries(found).map(([name, violations]) => [name, violations.map(({ rule }) => rule)])
  assert.deepEqual(Object.fromEntries(broken), rules)
  assert.deepEqual(problem.attrNames, Object.keys(found))
  for (const { message } of Object.values(found).flat()) assert.ok(message !== '', 'a violation has a message')
  return found
}

/** A new record, with its foreign keys as they are stored. */
export async function create(api: Api, model: string, values: JsonObject): Promise<JsonObject> {
  return record(await api.request('POST', `/${model}?populate=false`, { body: values }), 201)
}

/** The record as it is stored. */
export async function stored(api: Api, model: string, id: Json | undefined): Promise<JsonObject> {
  return record(await api.request('GET', `/${model}/${encodeURIComponent(String(id))}?populate=false`))
}

/** Asserts that the model has no records. */
export async function nothingStored(api: Api, model: string): Promise<void> {
  assert.deepEqual(list(await api.request('GET', `/${model}?populate=false`)), [])
}
