import { type DeclaredActions, declareActions, modelSubjects } from './actions/declare-actions.ts'
import type { ErrorListener } from './config-error.ts'
import type {
  AttributeDefinition,
  AttributeDefinitions,
  IndexDefinition,
  ModelDefinition,
  ModelDefinitions,
} from './definition.ts'
import { sharedAttributes } from './definition.ts'
import { combinationProblems, shapeAttribute, shapeModel } from './definition-shape.ts'
import { attributeNameProblem, databaseNameProblem, folded, modelNameProblem, tableNameProblem } from './names.ts'

/** A model whose options and names are checked and whose associations are not resolved yet. */
export interface Draft {
  readonly name: string
  readonly table: string
  /** Own and shared attributes, without removed ones. */
  readonly attributes: ReadonlyMap<string, DraftAttribute>
  /** Undefined if there is none, which is reported. */
  readonly primaryKey: string | undefined
  readonly indexes: readonly IndexDefinition[]
  readonly access: ModelDefinition['access']
  readonly hooks: ModelDefinition['hooks']
  readonly actions: DeclaredActions
  readonly writers: ModelDefinition['writers']
}

export interface DraftAttribute extends AttributeDefinition {
  /** It has a reported problem: problems that follow from it are not reported. */
  readonly isBroken: boolean
}

/** All drafts by folded name. */
export type Drafts = ReadonlyMap<string, Draft>

type Attributes = ReadonlyMap<string, DraftAttribute>

export function readDrafts(
  definitions: ModelDefinitions,
  shared: AttributeDefinitions,
  onError: ErrorListener,
): Drafts {
  const sharedDrafts = readShared(shared, onError)
  const drafts = new Map<string, Draft>()
  for (const [name, definition] of Object.entries(definitions)) {
    const nameProblem = modelNameProblem(name)
    const other = drafts.get(folded(name))
    if (nameProblem) onError(name, nameProblem)
    else if (other) onError(name, `differs from the model "${other.name}" in letter case only`)
    else drafts.set(folded(name), readDraft(name, definition, sharedDrafts, onError))
  }
  if (Object.keys(definitions).length === 0) onError('models', 'at least one model is required')
  reportDuplicateTables(drafts, onError)
  return drafts
}

function readDraft(name: string, definition: ModelDefinition, shared: Attributes, onError: ErrorListener): Draft {
  const { valid, problems } = shapeModel(definition)
  for (const problem of problems) onError(name, problem)
  const own = readAttributes(name, valid.attributes ?? {}, shared, onError)
  const attributes = withShared(own, shared, valid.primaryKey)
  const table = valid.tableName ?? name
  const tableProblem = tableNameProblem(table)
  if (tableProblem) onError(name, `table ${JSON.stringify(table)}: ${tableProblem}`)
  reportDuplicateColumns(name, attributes, onError)
  const primaryKey = findPrimaryKey(name, attributes, valid.primaryKey, onError)
  const actions = readActions(name, valid, attributes, onError)
  const { indexes = [], access, hooks, writers } = valid
  return { name, table, attributes, primaryKey, indexes, access, hooks, actions, writers }
}

/** Associations are part of addresses, as actions are. */
function readActions(
  model: string,
  { actions = {} }: ModelDefinition,
  attributes: Attributes,
  onError: ErrorListener,
): DeclaredActions {
  const associations = [...attributes].filter(([, definition]) => definition.model ?? definition.collection)
  const names = new Set(associations.map(([name]) => folded(name)))
  const taken = (name: string) => (names.has(folded(name)) ? 'an association' : undefined)
  return declareActions(actions, `${model}.actions`, modelSubjects, taken, onError)
}

/** The attributes of the configuration, merged over the built-in ones. */
function readShared(shared: AttributeDefinitions, onError: ErrorListener): Attributes {
  const builtIn = new Map(
    Object.entries(sharedAttributes).map(([name, definition]) => [name, { ...definition, isBroken: false }]),
  )
  return withShared(readAttributes('attributes', shared, builtIn, onError), builtIn, undefined)
}

interface OwnAttributes {
  readonly given: Attributes
  readonly removed: ReadonlySet<string>
}

function readAttributes(
  place: string,
  attributes: AttributeDefinitions,
  shared: Attributes,
  onError: ErrorListener,
): OwnAttributes {
  const given = new Map<string, DraftAttribute>()
  const removed = new Set<string>()
  for (const [name, definition] of Object.entries(attributes)) {
    if (definition === undefined) continue
    const here = `${place}.${name}`
    if (definition === false) {
      if (!shared.has(name)) onError(here, 'there is no shared attribute of this name')
      removed.add(name)
      continue
    }
    const nameProblem = attributeNameProblem(name)
    if (nameProblem) {
      onError(here, nameProblem)
      continue
    }
    const { valid, problems } = shapeAttribute(definition, name)
    const all = [...problems, ...combinationProblems(valid)]
    for (const problem of all) onError(here, problem)
    given.set(name, { ...valid, isBroken: all.length > 0 })
  }
  return { given, removed }
}

/** The primary key comes first and the other shared attributes last. */
function withShared({ given, removed }: OwnAttributes, shared: Attributes, primaryKey: string | undefined): Attributes {
  const isKey = (name: string): boolean => name === 'id' || shared.get(name)?.primaryKey === true
  const otherKey = primaryKey ?? [...given].find(([, definition]) => definition.primaryKey)?.[0]
  const inherits = (name: string): boolean =>
    !given.has(name) && !removed.has(name) && !(isKey(name) && otherKey !== undefined && otherKey !== name)

  const inherited = [...shared].filter(([name]) => inherits(name))
  return new Map([
    ...inherited.filter(([name]) => isKey(name)),
    ...given,
    ...inherited.filter(([name]) => !isKey(name)),
  ])
}

function findPrimaryKey(
  model: string,
  attributes: Attributes,
  named: string | undefined,
  onError: ErrorListener,
): string | undefined {
  const marked = [...attributes].filter(([, definition]) => definition.primaryKey).map(([name]) => name)
  const candidates = [...new Set(named === undefined ? marked : [named, ...marked])]
  if (candidates.length > 1) {
    onError(model, `has several primary keys: ${candidates.join(', ')}`)
    return undefined
  }
  const [key] = candidates
  if (key !== undefined && !attributes.has(key)) {
    onError(model, `the primary key "${key}" is not one of its attributes`)
    return undefined
  }
  if (key !== undefined) return key
  if (attributes.has('id')) return 'id'
  onError(model, 'has no primary key')
  return undefined
}

function reportDuplicateTables(drafts: Drafts, onError: ErrorListener): void {
  const owners = new Map<string, string>()
  for (const { name, table } of drafts.values()) {
    const owner = owners.get(folded(table))
    if (owner !== undefined) onError(name, `its table "${table}" is already used by "${owner}"`)
    else owners.set(folded(table), name)
  }
}

function reportDuplicateColumns(model: string, attributes: Attributes, onError: ErrorListener): void {
  const owners = new Map<string, string>()
  for (const [name, { columnName, collection, computed }] of attributes) {
    if (collection !== undefined || computed !== undefined) continue
    const column = columnName ?? name
    const problem = databaseNameProblem(column)
    const owner = owners.get(folded(column))
    if (problem) onError(`${model}.${name}`, `column ${JSON.stringify(column)}: ${problem}`)
    else if (owner !== undefined) onError(`${model}.${name}`, `its column "${column}" is already used by "${owner}"`)
    else owners.set(folded(column), name)
  }
}
