import { decodeFormText } from './decode-form-text.ts'
import { ServiceError } from './errors.ts'
import type { Json, JsonObject } from './json.ts'

export interface QueryStringLimits {
  readonly maxParameters: number
  readonly maxParameterDepth: number
}

/**
 * Parses a query string or a form: `a=1`, `a[b]=1`, `a[]=x`, `a[0]=x`; a repeated name is a list. Every value is text.
 * Throws E_BAD_REQUEST, also for names with a meaning in JavaScript itself (`__proto__`), at any level.
 */
export function parseQueryString(text: string, limits: QueryStringLimits): JsonObject {
  if (text === '') return {}
  const escaped = text.includes('%') || text.includes('+')
  const parameters: Parameter[] = []
  let count = 0
  for (let start = 0, end = 0; start <= text.length; start = end + 1) {
    end = text.indexOf('&', start)
    if (end === -1) end = text.length
    if (++count > limits.maxParameters) throw tooManyParameters(limits)

    const pair = escaped ? withBrackets(text.slice(start, end)) : text.slice(start, end)
    const equals = endOfName(pair)
    const name = decode(pair.slice(0, equals), escaped)
    if (name !== '') parameters.push([name, decode(pair.slice(equals + 1), escaped)])
  }
  return nestParameters(parameters, limits)
}

export type Parameter = readonly [name: string, value: string]

/** The same for parameters that are not encoded. */
export function nestParameters(parameters: readonly Parameter[], limits: QueryStringLimits): JsonObject {
  const values: Record<string, Json> = {}
  let branches: Map<string, Branch> | undefined
  for (const [name, value] of parameters) {
    if (name.includes('[')) {
      branches ??= new Map()
      addToBranch(branches, name, value, limits)
    } else {
      refuseReserved(name)
      const before = Object.hasOwn(values, name) ? values[name] : undefined
      values[name] = before === undefined ? value : appended(before as Leaf, value)
    }
  }
  for (const [name, branch] of branches ?? []) {
    if (Object.hasOwn(values, name)) throw conflict(name)
    values[name] = toJson(branch)
  }
  return values
}

/** `encodeURI` escapes brackets, and leaves the '=' inside: `age%5B%3E=%5D=3`. */
const withBrackets = (pair: string): string => pair.replaceAll(/%5b/gi, '[').replaceAll(/%5d/gi, ']')

/** The first '=' outside of brackets: `age[>=]=3` has one inside. */
function endOfName(pair: string): number {
  let equals = pair.indexOf('=')
  while (equals !== -1 && pair.lastIndexOf('[', equals) > pair.lastIndexOf(']', equals)) {
    const close = pair.indexOf(']', equals)
    if (close === -1) break
    equals = pair.indexOf('=', close)
  }
  return equals === -1 ? pair.length : equals
}

function decode(text: string, escaped: boolean): string {
  if (!escaped) return text
  try {
    return decodeFormText(text)
  } catch {
    throw bad(`${quoted(text)} is not valid percent-encoded UTF-8`)
  }
}

/** A text, or the texts of a repeated name. */
type Leaf = string | readonly string[]
const appended = (before: Leaf, value: string): Leaf =>
  typeof before === 'string' ? [before, value] : [...before, value]

/** The content of the brackets after a name: named members, or a list in order of its indexes or of appearance. */
interface Branch {
  readonly kind: 'named' | 'numbered' | 'appended'
  readonly members: Map<string, Leaf | Branch>
}

const index = /^(?:0|[1-9]\d*)$/
const hasBracket = (segment: string): boolean => segment.includes('[') || segment.includes(']')
const kindOf = (segment: string): Branch['kind'] =>
  segment === '' ? 'appended' : index.test(segment) ? 'numbered' : 'named'

function addToBranch(branches: Map<string, Branch>, name: string, value: string, limits: QueryStringLimits): void {
  const open = name.indexOf('[')
  const base = name.slice(0, open)
  // Splitting stops one segment past the limit.
  const segments = name.slice(open + 1, -1).split('][', limits.maxParameterDepth + 1)
  if (base === '' || base.includes(']') || !name.endsWith(']') || segments.some(hasBracket)) {
    throw bad(`Unbalanced brackets in the parameter ${quoted(name)}`)
  }
  refuseReserved(base)
  if (segments.length > limits.maxParameterDepth) {
    throw bad(`${quoted(name)} has more than ${limits.maxParameterDepth} levels of brackets`, 'maxParameterDepth')
  }

  let members: Map<string, Leaf | Branch> = branches as Map<string, Leaf | Branch>
  let key = base
  for (const segment of segments) {
    refuseReserved(segment)
    const kind = kindOf(segment)
    if (kind === 'numbered' && Number(segment) >= limits.maxParameters) throw tooManyParameters(limits)
    const found = members.get(key)
    if (found !== undefined && (!isBranch(found) || found.kind !== kind)) throw conflict(name)
    const branch: Branch = found ?? { kind, members: new Map() }
    if (!found) members.set(key, branch)
    members = branch.members
    key = kind === 'appended' ? String(members.size) : segment
  }
  const before = members.get(key)
  if (before !== undefined && isBranch(before)) throw conflict(name)
  members.set(key, before === undefined ? value : appended(before, value))
}

const isBranch = (node: Leaf | Branch): node is Branch => typeof node === 'object' && !Array.isArray(node)

/** Missing indexes are skipped: a list never has holes. */
function toJson(node: Leaf | Branch): Json {
  if (!isBranch(node)) return node
  const members = [...node.members]
  if (node.kind === 'named') return Object.fromEntries(members.map(([name, member]) => [name, toJson(member)]))
  if (node.kind === 'numbered') members.sort(([a], [b]) => Number(a) - Number(b))
  return members.map(([, member]) => toJson(member))
}

function refuseReserved(name: string): void {
  if (name === '__proto__' || name === 'constructor' || name === 'prototype') {
    throw bad(`${name} is not allowed as a parameter name`)
  }
}

const bad = (message: string, limit?: keyof QueryStringLimits): ServiceError =>
  new ServiceError('E_BAD_REQUEST', message, limit === undefined ? {} : { limit })

const conflict = (name: string): ServiceError => bad(`Conflicting values for the parameter ${quoted(name)}`)

export const tooManyParameters = ({ maxParameters }: Pick<QueryStringLimits, 'maxParameters'>): ServiceError =>
  bad(`More than ${maxParameters} parameters, or a list index beyond that`, 'maxParameters')

/** The beginning of a client's text: enough to find the mistake. */
const quoted = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
