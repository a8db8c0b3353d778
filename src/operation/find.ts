import type { Criteria } from '../criteria/criteria.ts'
import { parsePage } from '../criteria/parse-page.ts'
import { parseSelect } from '../criteria/parse-select.ts'
import { parseSort } from '../criteria/parse-sort.ts'
import { parseWhere } from '../criteria/parse-where.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import { chain } from '../support/maybe.ts'
import { type Operation, type Parameters, parameter } from './operation.ts'
import { refuseUnserved } from './refuse-unserved.ts'
import { reserved } from './reserved.ts'

/** A list of records: filtered, sorted, a page of it. */
export const find: Operation<Criteria> = {
  name: 'find',
  effect: 'reads',
  routes: [
    { method: 'GET', path: '/:model', style: 'rest' },
    { method: 'GET', path: '/:model/find', style: 'shortcut' },
  ],

  parse(parameters, { model }, { limits }) {
    refuseUnserved(parameters)
    const get = (name: string) => parameter(parameters, name)
    return {
      where: parseWhere(whereOf(parameters), model, limits),
      sort: parseSort(get('sort'), model, limits),
      ...parsePage(get('limit'), get('skip'), limits),
      select: parseSelect(get('select'), get('omit'), model),
    }
  },

  run: (criteria, { model }, store) => chain(store.find(model, criteria), (records) => ({ kind: 'list', records })),
}

/** `where`, used instead of the attributes; or else every name that says nothing about the answer is an attribute. */
export function whereOf(parameters: Parameters): Json {
  const where = parameter(parameters, 'where')
  if (where !== undefined) return typeof where === 'string' ? parseJson(where) : where
  const { query, body } = parameters
  const filter: Record<string, Json> = Object.create(null)
  for (const source of [query, body]) {
    for (const name of Object.keys(source)) if (!reserved.has(name)) filter[name] = source[name] as Json
  }
  return filter
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    throw new ServiceError('E_BAD_CRITERIA', '"where" is not valid JSON')
  }
}
