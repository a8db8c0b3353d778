import { associate, isAssociation } from './associate.ts'
import { columnTypeProblem } from './column-type.ts'
import { ConfigError, type ErrorListener } from './config-error.ts'
import { declareAttribute, isNullable, nullabilityProblems } from './declare-attribute.ts'
import { checkComputed, isComputed } from './declare-computed.ts'
import { declareIndexes } from './declare-indexes.ts'
import type { AttributeDefinitions, ModelDefinitions } from './definition.ts'
import { type Draft, type Drafts, readDrafts } from './draft.ts'
import { type Declared, link } from './link.ts'
import type { Attribute, Models } from './model.ts'
import { rulesOf } from './rules.ts'

/**
 * Builds the models of the definitions, in their order, followed by undeclared junctions. `shared` are attributes of every
 * model; they override the built-in ones. `readRules` makes the rules of attributes. Throws one ConfigError with all problems.
 */
export function defineModels(
  definitions: ModelDefinitions,
  shared: AttributeDefinitions = {},
  readRules = rulesOf,
): Models {
  const problems: string[] = []
  const onError: ErrorListener = (place, problem) => problems.push(`${place}: ${problem}`)

  const drafts = readDrafts(definitions, shared, onError)
  const declared = declareAttributes(drafts, readRules, onError)
  const plans = associate(drafts, onError)
  const indexes = new Map(
    [...declared].map(([draft, attributes]) => [draft, declareIndexes(draft, attributes, onError)] as const),
  )
  if (problems.length > 0) throw new ConfigError(problems)
  return link(drafts, declared, plans, indexes)
}

function declareAttributes(drafts: Drafts, readRules: typeof rulesOf, onError: ErrorListener): Declared {
  const declared = new Map<Draft, Map<string, Attribute>>()
  for (const draft of drafts.values()) {
    const attributes = new Map<string, Attribute>()
    declared.set(draft, attributes)
    checkComputed(draft, onError)
    for (const [name, definition] of draft.attributes) {
      if (definition.isBroken || isComputed(definition)) continue
      const place = `${draft.name}.${name}`
      const isPrimaryKey = name === draft.primaryKey
      if (isAssociation(definition)) {
        if (isPrimaryKey) onError(place, 'an association cannot be the primary key')
        for (const problem of nullabilityProblems(definition, false)) onError(place, problem)
        if (definition.onDestroy === 'setNull' && !isNullable(definition, false))
          onError(place, "`onDestroy: 'setNull'` needs an attribute that allows null")
        const columnProblem = columnTypeProblem(definition.columnType)
        if (columnProblem) onError(place, columnProblem)
        continue
      }
      const attribute = declareAttribute(name, definition, isPrimaryKey, readRules)
      if ('column' in attribute) attributes.set(name, attribute)
      else for (const problem of attribute) onError(place, problem)
    }
  }
  return declared
}
