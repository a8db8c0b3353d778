/*
 * The part about pets that both hand-written servers share, written for these tables only.
 *
 */

type Kind = 'text' | 'integer' | 'real' | 'json' | 'boolean'

interface Column {
  readonly name: string
  readonly kind: Kind
  readonly required: boolean
  readonly maxLength?: number
}

const column = (name: string, kind: Kind, required = false, maxLength?: number): Column =>
  maxLength === undefined ? { name, kind, required } : { name, kind, required, maxLength }

/** What a client may write, in the order of the table. */
export const columns: readonly Column[] = [
  column('name', 'text', true, 80),
  column('kind', 'text', true),
  column('breed', 'text', false, 80),
  column('note', 'text', false, 500),
  column('age', 'integer', true),
  column('weight', 'real', true),
  column('tags', 'json'),
  column('details', 'json'),
  column('vaccinated', 'boolean'),
]
const columnNamed = new Map(columns.map((known) => [known.name, known]))
const kinds = new Set(['cat', 'dog', 'bird', 'fish', 'horse', 'rabbit', 'snake', 'turtle'])

/** Every column, in the order in which a record is answered. */
export const allColumns = ['id', ...columns.map(({ name }) => name), 'createdAt', 'updatedAt']
export const selectList = allColumns.map((name) => `"${name}"`).join(', ')

export class Refusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** A value that the drivers accept. */
export type Stored = string | number | boolean | null

/** The columns that a body sets, with their checked values. */
export function readChanges(body: unknown): { readonly names: readonly string[]; readonly values: readonly Stored[] } {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Refusal(400, 'A pet must be an object')
  const names: string[] = []
  const values: Stored[] = []
  for (const name in body) {
    const known = columnNamed.get(name)
    if (!known) throw new Refusal(400, `A pet has no ${name}`)
    names.push(name)
    values.push(store(known, (body as Record<string, unknown>)[name]))
  }
  return { names, values }
}

/** A value for each column of a new pet. */
export function readNewPet(body: unknown): Stored[] {
  const { names, values } = readChanges(body)
  return columns.map(({ name, required }) => {
    const value = values[names.indexOf(name)]
    if (value !== undefined) return value
    if (required) throw new Refusal(400, `${name} is required`)
    return name === 'vaccinated' ? false : null
  })
}

function store(known: Column, value: unknown): Stored {
  const { name, kind, required, maxLength } = known
  if (value === null) {
    if (required) throw new Refusal(400, `${name} must not be null`)
    return null
  }
  switch (kind) {
    case 'text':
      if (typeof value !== 'string') throw new Refusal(400, `${name} must be a text`)
      if (required && value === '') throw new Refusal(400, `${name} must not be empty`)
      if (maxLength !== undefined && value.length > maxLength) throw new Refusal(400, `${name} is too long`)
      if (name === 'kind' && !kinds.has(value)) throw new Refusal(400, `There is no kind ${value}`)
      return value
    case 'integer':
      if (!Number.isSafeInteger(value) || (value as number) < 0)
        throw new Refusal(400, `${name} must be a whole number`)
      return value as number
    case 'real':
      if (typeof value !== 'number') throw new Refusal(400, `${name} must be a number`)
      return value
    case 'boolean':
      if (typeof value !== 'boolean') throw new Refusal(400, `${name} must be true or false`)
      return value
    case 'json':
      return JSON.stringify(value)
  }
}

/** The statement of a requested list. */
export interface PetList {
  readonly text: string
  readonly values: Stored[]
}

const operators = new Map([
  ['<', '<'],
  ['<=', '<='],
  ['>', '>'],
  ['>=', '>='],
  ['!=', '<>'],
])
const comparable = new Set(allColumns.filter((name) => name !== 'tags' && name !== 'details'))
export const largestLimit = 1000

/** Parses `where`, `sort`, `limit` and `skip`; names are looked up in fixed tables. `mark` spells the nth placeholder. */
export function readList(query: string, mark: (number: number) => string): PetList {
  const values: Stored[] = []
  let where = ''
  let order = '"id"'
  let limit = 30
  let skip = 0
  for (const part of query === '' ? [] : query.split('&')) {
    const equals = part.indexOf('=')
    const value = decoded(part.slice(equals + 1))
    switch (part.slice(0, equals)) {
      case 'where':
        where = readWhere(parse(value), values, mark)
        break
      case 'sort':
        order = readSort(value)
        break
      case 'limit':
        limit = readCount(value, largestLimit)
        break
      case 'skip':
        skip = readCount(value, 1_000_000)
        break
      default:
        throw new Refusal(400, `Unknown parameter ${part}`)
    }
  }
  // Written out: a limit that is bound makes SQLite prepare the statement again each time.
  let text = `select ${selectList} from "pet"${where} order by ${order} limit ${limit}`
  if (skip > 0) {
    values.push(skip)
    text += ` offset ${mark(values.length)}`
  }
  return { text, values }
}

export function readWhere(conditions: unknown, values: Stored[], mark: (number: number) => string): string {
  if (typeof conditions !== 'object' || conditions === null) throw new Refusal(400, 'where must be an object')
  let text = ''
  for (const [name, condition] of Object.entries(conditions)) {
    if (!comparable.has(name)) throw new Refusal(400, `A pet has no ${name} to compare`)
    if (typeof condition !== 'object' || condition === null) {
      values.push(scalar(condition))
      text += `${text === '' ? ' where ' : ' and '}"${name}" = ${mark(values.length)}`
      continue
    }
    for (const [word, operand] of Object.entries(condition)) {
      const operator = operators.get(word)
      if (operator === undefined) throw new Refusal(400, `Unknown operator ${word}`)
      values.push(scalar(operand))
      text += `${text === '' ? ' where ' : ' and '}"${name}" ${operator} ${mark(values.length)}`
    }
  }
  return text
}

export function scalar(value: unknown): Stored {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  throw new Refusal(400, 'Only texts, numbers and booleans are compared')
}

export function readSort(text: string): string {
  const [name = '', direction = 'ASC'] = text.split(' ')
  if (!comparable.has(name)) throw new Refusal(400, `A pet has no ${name} to sort by`)
  if (direction !== 'ASC' && direction !== 'DESC') throw new Refusal(400, 'The direction must be ASC or DESC')
  return `"${name}" ${direction}${name === 'id' ? '' : ', "id"'}`
}

export function readCount(text: string, most: number): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 0 || count > most)
    throw new Refusal(400, `${text} is not a number of records`)
  return count
}

export const decoded = (text: string): string =>
  text.includes('%') || text.includes('+') ? decodeURIComponent(text.replaceAll('+', ' ')) : text

export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal(400, 'Invalid JSON')
  }
}

const unusual = /[^ !#-[\]-~]/

/** JSON text of a text: most need nothing but the quotes, and to see that takes half the time of `stringify`. */
export const quote = (text: string): string => (unusual.test(text) ? JSON.stringify(text) : `"${text}"`)
