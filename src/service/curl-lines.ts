import type { JsonObject } from '../protocol/json.ts'
import type { ModelRoutes } from './model-routes.ts'
import type { RouteLine } from './routes.ts'
import { sampleChange, sampleKey, sampleRecord } from './sample-values.ts'

/** A line for a shell, and what it does. */
export interface CurlLine {
  readonly does: string
  readonly line: string
}

/** How one works with the records of a model by hand, in lines that can be copied as they are. */
export function curlLines({ model, lines }: ModelRoutes, origin: string): readonly CurlLine[] {
  const key = sampleKey(model)
  const associations = [...model.associations.values()]
  const { name: association } = associations.find(({ kind }) => kind !== 'belongsTo') ?? associations[0] ?? {}
  const wanted: readonly Wanted[] = [
    { does: 'Find', operation: 'find', method: 'GET', values: { limit: 5 } },
    { does: 'Find one', operation: 'findOne', method: 'GET' },
    ...(association === undefined
      ? []
      : [{ does: `Its ${association}`, operation: 'populate', method: 'GET', association }]),
    { does: 'Create', operation: 'create', method: 'POST', values: sampleRecord(model) },
    { does: 'Update', operation: 'update', method: 'PATCH', values: sampleChange(model) },
    { does: 'Destroy', operation: 'destroy', method: 'DELETE' },
  ]
  return wanted.flatMap(({ does, operation, method, values = {}, association = '' }) => {
    const route = routeFor(
      lines,
      operation,
      method,
      operation !== 'find' && operation !== 'create',
      model.primaryKey.name,
    )
    if (!route) return []
    const path = route.path.replace(/:[^/]+/g, (word) =>
      word === ':association' ? association : encodeURIComponent(key),
    )
    return [{ does, line: curl(route.method, origin + path, values) }]
  })
}

interface Wanted {
  readonly does: string
  readonly operation: string
  readonly method: string
  readonly values?: JsonObject
  readonly association?: string
}

/** The REST route where it is served, and the shortcut where it is not. */
function routeFor(
  lines: readonly RouteLine[],
  operation: string,
  method: string,
  isOfOne: boolean,
  key: string,
): RouteLine | undefined {
  const candidates = lines.filter(
    (line) =>
      line.operation === operation && line.path.includes(`/:${key}`) === isOfOne && !line.path.includes('/:child'),
  )
  return (
    candidates.find((line) => line.style === 'rest' && line.method === method) ??
    candidates.find((line) => line.style === 'shortcut')
  )
}

function curl(method: string, url: string, values: JsonObject): string {
  const entries = Object.entries(values)
  if (method === 'GET') {
    const query = entries.map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      return `${encodeURIComponent(name)}=${encodeURIComponent(text)}`
    })
    return `curl ${quoted(query.length === 0 ? url : `${url}?${query.join('&')}`)}`
  }
  const body = entries.length === 0 ? '' : ` -H content-type:application/json -d ${quoted(JSON.stringify(values))}`
  return `curl ${method === 'POST' ? '' : `-X ${method} `}${quoted(url)}${body}`
}

/** One word for a shell, whatever it holds. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
