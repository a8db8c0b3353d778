import type { Report } from './config-error.ts'
import type { AttributeDefinition, AttributeDefinitions, ModelDefinition, ModelDefinitions } from './definition.ts'
import { sharedAttributes } from './definition.ts'
import { combinationProblems, shapeAttribute, shapeModel } from './definition-shape.ts'
import { attributeNameProblem, databaseNameProblem, folded, modelNameProblem } from './names.ts'

/** A model between its definition and its final form: its words and names are right, nothing is linked yet. */
export interface Draft {
  readonly name: string
  readonly table: string
  /** Its own and the shared ones, without those that were removed. */
  readonly attributes: ReadonlyMap<string, DraftAttribute>
  /** Undefined when none was found, which was reported. */
  readonly primaryKey: string | undefined
}

export interface DraftAttribute extends AttributeDefinition {
  /** Something is wrong with it and was reported: nothing that follows from it is worth a word. */
  readonly isBroken: boolean
}

/** The drafts of all models by their folded names. */
export type Drafts = ReadonlyMap<string, Draft>

type Attributes = ReadonlyMap<string, DraftAttribute>

export function readDrafts(definitions: ModelDefinitions, shared: AttributeDefinitions, report: Report): Drafts {
  const everywhere = readShared(shared, report)
  const drafts = new Map<string, Draft>()
  for (const [name, definition] of Object.entries(definitions)) {
    const nameProblem = modelNameProblem(name)
    const other = drafts.get(folded(name))
    if (nameProblem) report(name, nameProblem)
    else if (other) report(name, `differs from the model "${other.name}" in letter case only`)
    else drafts.set(folded(name), readDraft(name, definition, everywhere, report))
  }
  if (Object.keys(definitions).length === 0) report('models', 'there are none')
  reportDoubleTables(drafts, report)
  return drafts
}

function readDraft(name: string, definition: ModelDefinition, shared: Attributes, report: Report): Draft {
  const { sound, problems } = shapeModel(definition)
  for (const problem of problems) report(name, problem)
  const own = readAttributes(name, sound.attributes ?? {}, shared, report)
  const attributes = withShared(own, shared, sound.primaryKey)
  const table = sound.tableName ?? name
  const tableProblem = databaseNameProblem(table)
  if (tableProblem) report(name, `table ${JSON.stringify(table)}: ${tableProblem}`)
  reportDoubleColumns(name, attributes, report)
  return { name, table, attributes, primaryKey: findPrimaryKey(name, attributes, sound.primaryKey, report) }
}

/** The configuration's attributes over our own. */
function readShared(shared: AttributeDefinitions, report: Report): Attributes {
  const ours = new Map(Object.entries(sharedAttributes).map(([name, words]) => [name, { ...words, isBroken: false }]))
  return withShared(readAttributes('attributes', shared, ours, report), ours, undefined)
}

interface OwnAttributes {
  readonly given: Attributes
  readonly removed: ReadonlySet<string>
}

function readAttributes(
  place: string,
  attributes: AttributeDefinitions,
  shared: Attributes,
  report: Report,
): OwnAttributes {
  const given = new Map<string, DraftAttribute>()
  const removed = new Set<string>()
  for (const [name, definition] of Object.entries(attributes)) {
    if (definition === undefined) continue
    const here = `${place}.${name}`
    if (definition === false) {
      if (!shared.has(name)) report(here, 'there is no shared attribute of this name to remove')
      removed.add(name)
      continue
    }
    const nameProblem = attributeNameProblem(name)
    if (nameProblem) {
      report(here, nameProblem)
      continue
    }
    const { sound, problems } = shapeAttribute(definition)
    const all = [...problems, ...combinationProblems(sound)]
    for (const problem of all) report(here, problem)
    given.set(name, { ...sound, isBroken: all.length > 0 })
  }
  return { given, removed }
}

/** The identifying attribute comes first, and what all models share last. */
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
  report: Report,
): string | undefined {
  const marked = [...attributes].filter(([, definition]) => definition.primaryKey).map(([name]) => name)
  const candidates = [...new Set(named === undefined ? marked : [named, ...marked])]
  if (candidates.length > 1) {
    report(model, `has several primary keys: ${candidates.join(', ')}`)
    return undefined
  }
  const [key] = candidates
  if (key !== undefined && !attributes.has(key)) {
    report(model, `the primary key "${key}" is not one of its attributes`)
    return undefined
  }
  if (key !== undefined) return key
  if (attributes.has('id')) return 'id'
  report(model, 'has no primary key')
  return undefined
}

function reportDoubleTables(drafts: Drafts, report: Report): void {
  const owners = new Map<string, string>()
  for (const { name, table } of drafts.values()) {
    const owner = owners.get(folded(table))
    if (owner !== undefined) report(name, `its table "${table}" is the table of "${owner}" already`)
    else owners.set(folded(table), name)
  }
}

function reportDoubleColumns(model: string, attributes: Attributes, report: Report): void {
  const owners = new Map<string, string>()
  for (const [name, { columnName, collection }] of attributes) {
    if (collection !== undefined) continue
    const column = columnName ?? name
    const problem = databaseNameProblem(column)
    const owner = owners.get(folded(column))
    if (problem) report(`${model}.${name}`, `column ${JSON.stringify(column)}: ${problem}`)
    else if (owner !== undefined)
      report(`${model}.${name}`, `its column "${column}" is the column of "${owner}" already`)
    else owners.set(folded(column), name)
  }
}
