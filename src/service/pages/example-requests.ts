import type { JsonObject } from '../../protocol/json.ts'
import type { ModelRoutes } from '../dispatch/model-routes.ts'
import type { RouteLine } from '../dispatch/routes.ts'
import { sampleChange, sampleKey, sampleRecord } from './sample-values.ts'

/** A request that the page shows as a shell command and sends by a button. */
export interface ExampleRequest {
  readonly label: string
  readonly method: string
  /** With the query string. */
  readonly path: string
  /** JSON. */
  readonly body: string | undefined
}

/** Example requests for the records of a model. */
export function exampleRequests({ model, lines }: ModelRoutes): readonly ExampleRequest[] {
  const key = sampleKey(model)
  const associations = [...model.associations.values()]
  const { name: association } = associations.find(({ kind }) => kind !== 'belongsTo') ?? associations[0] ?? {}
  const examples: readonly Example[] = [
    { label: 'Find', operation: 'find', method: 'GET', values: { limit: 5 } },
    { label: 'Find one', operation: 'findOne', method: 'GET' },
    ...(association === undefined
      ? []
      : [{ label: `Its ${association}`, operation: 'populate', method: 'GET', association }]),
    { label: 'Create', operation: 'create', method: 'POST', values: sampleRecord(model) },
    { label: 'Update', operation: 'update', method: 'PATCH', values: sampleChange(model) },
    { label: 'Destroy', operation: 'destroy', method: 'DELETE' },
  ]
  return examples.flatMap(({ label, operation, method, values = {}, association = '' }) => {
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
    return [{ label, method: route.method, ...contentOf(route.method, path, values) }]
  })
}

interface Example {
  readonly label: string
  readonly operation: string
  readonly method: string
  readonly values?: JsonObject
  readonly association?: string
}

/** The REST route of an operation, or its shortcut when REST routes are off. */
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

/** Values go into the query string of a GET, and into the body of other requests. */
function contentOf(method: string, path: string, values: JsonObject): Pick<ExampleRequest, 'path' | 'body'> {
  const entries = Object.entries(values)
  if (entries.length === 0) return { path, body: undefined }
  if (method !== 'GET') return { path, body: JSON.stringify(values) }
  const query = entries.map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return `${encodeURIComponent(name)}=${encodeURIComponent(text)}`
  })
  return { path: `${path}?${query.join('&')}`, body: undefined }
}

/** The request as a shell command that can be copied. */
export function curlOf({ method, path, body }: ExampleRequest, origin: string): string {
  const url = quoted(origin + path)
  if (method === 'GET') return `curl ${url}`
  const content = body === undefined ? '' : ` -H content-type:application/json -d ${quoted(body)}`
  return `curl ${method === 'POST' ? '' : `-X ${method} `}${url}${content}`
}

/** Quotes a text as one shell word. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
