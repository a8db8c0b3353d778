import { orNearest } from '../support/nearest.ts'
import { type Computation, type SqlExpression, sqlDialects } from './computed.ts'
import type { ErrorListener } from './config-error.ts'
import type { AttributeDefinition } from './definition.ts'
import type { Draft, DraftAttribute } from './draft.ts'
import { type Attribute, plainAttribute } from './model.ts'
import { attributeTypeOf } from './types.ts'

export const isComputed = ({ computed, get, sql }: AttributeDefinition): boolean =>
  computed !== undefined || get !== undefined || sql !== undefined

/** The options of a computed attribute. Its value is not stored, so that nothing else has a meaning. */
const options = ['type', 'isInteger', 'columnType', 'computed', 'get', 'sql', 'access', 'description']

/** Reports what is wrong with the computed attributes of a draft. */
export function checkComputed(draft: Draft, onError: ErrorListener): void {
  for (const [name, definition] of draft.attributes) {
    if (definition.isBroken || !isComputed(definition)) continue
    for (const problem of problemsOf(name, definition, draft)) onError(`${draft.name}.${name}`, problem)
  }
}

function problemsOf(name: string, definition: DraftAttribute, draft: Draft): readonly string[] {
  const { computed, get } = definition
  const type = attributeTypeOf(definition)
  const other = Object.keys(definition).find((option) => option !== 'isBroken' && !options.includes(option))
  return [
    ...(name === draft.primaryKey ? ['the primary key cannot be computed'] : []),
    ...(other === undefined ? [] : [`\`${other}\` cannot be used with \`computed\`: the value is not stored`]),
    ...(typeof type === 'string' ? [type] : []),
    ...(get === undefined ? ['a computed attribute needs `get`, a function that returns its value'] : []),
    ...(get?.constructor.name === 'AsyncFunction' ? ['`get` must be synchronous'] : []),
    ...(computed === undefined
      ? ['a computed attribute needs `computed`, the list of the attributes that its value depends on']
      : dependencyProblems(name, computed, draft)),
    ...sqlProblems(definition, draft),
  ]
}

function dependencyProblems(name: string, computed: readonly string[], draft: Draft): readonly string[] {
  const unknown = computed.filter((source) => {
    const definition = draft.attributes.get(source)
    return definition === undefined || definition.collection !== undefined
  })
  if (unknown.length > 0)
    return unknown.map(
      (source) =>
        `\`computed\` names "${source}", which is not an attribute with a value of ${draft.name}${orNearest(source, draft.attributes.keys())}`,
    )
  const cycle = cycleFrom(name, draft, [])
  return cycle ? [`it depends on itself: ${cycle.join(' → ')}`] : []
}

function cycleFrom(name: string, draft: Draft, path: readonly string[]): readonly string[] | undefined {
  if (path.includes(name)) return path[0] === name ? [...path, name] : undefined
  for (const source of draft.attributes.get(name)?.computed ?? []) {
    const cycle = cycleFrom(source, draft, [...path, name])
    if (cycle) return cycle
  }
  return undefined
}

/** Calls the functions once, so that a misspelt column is found at start. */
function sqlProblems({ sql, computed = [] }: DraftAttribute, draft: Draft): readonly string[] {
  if (sql === undefined) return []
  const without = computed.find((source) => {
    const definition = draft.attributes.get(source)
    return definition && isComputed(definition) && definition.sql === undefined
  })
  if (without !== undefined) return [`\`sql\` depends on "${without}", which is computed without \`sql\``]
  return sqlDialects.flatMap((dialect) => {
    const columns = Object.fromEntries(computed.map((name) => [name, `"${name}"`]))
    const known = new Proxy(columns, {
      get(target, name) {
        if (typeof name === 'string' && Object.hasOwn(target, name)) return target[name]
        throw new Error(`"${String(name)}" is not named in \`computed\``)
      },
    })
    try {
      const text: unknown = expressionFor(sql, dialect)(known)
      if (typeof text !== 'string' || text.trim() === '') return [`\`sql\` for ${dialect} must return a text`]
      return /[;?]|\$\d|--|\/\*/.test(text)
        ? [`\`sql\` for ${dialect} must be one expression without ";", comments and placeholders`]
        : []
    } catch (error) {
      return [`\`sql\` for ${dialect}: ${error instanceof Error ? error.message : String(error)}`]
    }
  })
}

const expressionFor = (
  sql: NonNullable<AttributeDefinition['sql']>,
  dialect: (typeof sqlDialects)[number],
): SqlExpression => (typeof sql === 'function' ? sql : sql[dialect])

/** The computed attributes of a checked draft, by name. `stored` are its others. */
export function linkComputed(draft: Draft, stored: ReadonlyMap<string, Attribute>): ReadonlyMap<string, Attribute> {
  const linked = new Map<string, Attribute>()
  const link = (name: string): Attribute => {
    const known = stored.get(name) ?? linked.get(name)
    if (known) return known
    const definition = draft.attributes.get(name) as DraftAttribute
    const attribute = computedAttribute(name, definition, (definition.computed ?? []).map(link))
    linked.set(name, attribute)
    return attribute
  }
  for (const [name, definition] of draft.attributes) if (isComputed(definition)) link(name)
  return linked
}

function computedAttribute(name: string, definition: DraftAttribute, from: readonly Attribute[]): Attribute {
  const { get, sql } = definition
  const type = attributeTypeOf(definition)
  const computed: Computation = {
    from,
    get: get as Computation['get'],
    sql: sql && { sqlite: expressionFor(sql, 'sqlite'), postgres: expressionFor(sql, 'postgres') },
  }
  // Statements never contain its column: `expressionOf` takes its place.
  return { ...plainAttribute(name, type as Attribute['type']), access: definition.access, computed }
}
