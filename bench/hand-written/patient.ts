import {
  decoded,
  largestLimit,
  parse,
  Refusal,
  readCount,
  readSort,
  readWhere,
  type Stored,
  scalar,
  selectList,
} from './pet.ts'

/*
 * The part about patients that both hand-written servers share: three kinds of lists, and how the
 * rows of three statements become one answer.
 */

/** The places of the key and of the owner in the row of a patient, whose first columns are those of a pet. */
export const patientKey = 0
export const patientOwner = 12

const patientList = `${selectList}, "owner"`
export const ownerList = '"id", "name", "email", "city", "createdAt", "updatedAt"'
export const visitList = '"id", "reason", "note", "cost", "patient", "createdAt", "updatedAt"'
const visitPatient = 4
const ownerTexts = new Set(['name', 'email', 'city'])

export interface PatientList {
  readonly text: string
  readonly values: Stored[]
  readonly populated: boolean
}

/** `where`, also through the owner, `sort`, `limit`, `cursor` and `populate`; `mark` spells the nth placeholder. */
export function readPatients(query: string, mark: (number: number) => string): PatientList {
  const asked = new Map<string, string>()
  for (const part of query === '' ? [] : query.split('&')) {
    const equals = part.indexOf('=')
    asked.set(part.slice(0, equals), decoded(part.slice(equals + 1)))
  }
  const values: Stored[] = []
  let where = ''
  let after: string | undefined
  let order = '"id"'
  let limit = 30
  let populated = true
  for (const [name, value] of asked) {
    switch (name) {
      case 'where':
        where = readOwnAndOwner(parse(value), values, mark)
        break
      case 'sort':
        order = readSort(value)
        break
      case 'limit':
        limit = readCount(value, largestLimit)
        break
      case 'cursor':
        after = value
        break
      case 'populate':
        if (value !== 'false') throw new Refusal(400, 'populate must be false')
        populated = false
        break
      default:
        throw new Refusal(400, `Unknown parameter ${name}`)
    }
  }
  if (after !== undefined) {
    if (order !== '"age" ASC, "id"') throw new Refusal(400, 'A cursor requires sort=age')
    const [age, id, ...rest] = after.split(',').map(Number)
    if (!Number.isSafeInteger(age) || !Number.isSafeInteger(id) || rest.length > 0)
      throw new Refusal(400, `${after} is not a cursor`)
    values.push(age as number, id as number)
    where += `${and(where)}("age", "id") > (${mark(values.length - 1)}, ${mark(values.length)})`
  }
  const text = `select ${patientList} from "patient"${where} order by ${order} limit ${limit}`
  return { text, values, populated }
}

function readOwnAndOwner(conditions: unknown, values: Stored[], mark: (number: number) => string): string {
  if (typeof conditions !== 'object' || conditions === null) throw new Refusal(400, 'where must be an object')
  const { owner, ...own } = conditions as Record<string, unknown>
  let where = readWhere(own, values, mark)
  if (owner === undefined) return where
  if (typeof owner !== 'object' || owner === null) throw new Refusal(400, 'owner must be an object')
  let inner = ''
  for (const [name, value] of Object.entries(owner)) {
    if (!ownerTexts.has(name)) throw new Refusal(400, `An owner has no ${name} to compare`)
    values.push(scalar(value))
    inner += `${and(inner)}"${name}" = ${mark(values.length)}`
  }
  where += `${and(where)}"owner" in (select "id" from "owner"${inner})`
  return where
}

const and = (where: string): string => (where === '' ? ' where ' : ' and ')

/** How the rows of one database are encoded; the rest of a response is the same for both. */
export interface Spelling<Row extends readonly unknown[]> {
  /** A pet up to its times, without the last brace. */
  own(row: Row): string
  times(row: Row, at: number): string
  text(value: Row[number]): string
}

export function encodePatients<Row extends readonly unknown[]>(rows: readonly Row[], spelling: Spelling<Row>): string {
  let list = '['
  for (const row of rows) {
    list += `${list === '[' ? '' : ','}${spelling.own(row)},"owner":${row[patientOwner]}${spelling.times(row, 10)}}`
  }
  return `${list}]`
}

/** Visits come in the order of their patients; an owner of several patients is spelled once. */
export function encodePopulated<Row extends readonly unknown[]>(
  patients: readonly Row[],
  owners: readonly Row[],
  visits: readonly Row[],
  spelling: Spelling<Row>,
): string {
  const ownerOf = new Map(owners.map((row) => [row[0], encodeOwner(row, spelling)]))
  let list = '['
  let next = 0
  for (const row of patients) {
    const owner = ownerOf.get(row[patientOwner]) ?? 'null'
    list += `${list === '[' ? '' : ','}${spelling.own(row)}${spelling.times(row, 10)},"owner":${owner},"visits":[`
    const first = next
    for (let visit = visits[next]; visit && visit[visitPatient] === row[patientKey]; visit = visits[++next]) {
      list += `${next === first ? '' : ','}${encodeVisit(visit, spelling)}`
    }
    list += ']}'
  }
  return `${list}]`
}

const encodeOwner = <Row extends readonly unknown[]>(row: Row, { text, times }: Spelling<Row>): string =>
  `{"id":${row[0]},"name":${text(row[1])},"email":${text(row[2])},"city":${text(row[3])}${times(row, 4)}}`

const encodeVisit = <Row extends readonly unknown[]>(row: Row, { text, times }: Spelling<Row>): string =>
  `{"id":${row[0]},"reason":${text(row[1])},"note":${text(row[2])},"cost":${row[3]},"patient":${row[4]}${times(row, 5)}}`
