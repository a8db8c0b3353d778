import { associate, isAssociation } from './associate.ts'
import { ConfigError, type Report } from './config-error.ts'
import { declareAttribute, nullabilityProblems } from './declare-attribute.ts'
import type { AttributeDefinitions, ModelDefinitions } from './definition.ts'
import { type Draft, type Drafts, readDrafts } from './draft.ts'
import { type Declared, link } from './link.ts'
import type { Attribute, Models } from './model.ts'

/**
 * The models that the definitions mean, in their order, and after them the junctions that follow from them. `shared`
 * are attributes of every model, over our own. Throws one ConfigError that names everything that is wrong.
 */
export function defineModels(definitions: ModelDefinitions, shared: AttributeDefinitions = {}): Models {
  const problems: string[] = []
  const report: Report = (place, problem) => problems.push(`${place}: ${problem}`)

  const drafts = readDrafts(definitions, shared, report)
  const declared = declareAttributes(drafts, report)
  const plans = associate(drafts, report)
  if (problems.length > 0) throw new ConfigError(problems)
  return link(drafts, declared, plans)
}

function declareAttributes(drafts: Drafts, report: Report): Declared {
  const declared = new Map<Draft, Map<string, Attribute>>()
  for (const draft of drafts.values()) {
    const attributes = new Map<string, Attribute>()
    declared.set(draft, attributes)
    for (const [name, definition] of draft.attributes) {
      if (definition.isBroken) continue
      const place = `${draft.name}.${name}`
      const isPrimaryKey = name === draft.primaryKey
      if (isAssociation(definition)) {
        if (isPrimaryKey) report(place, 'an association cannot be the primary key')
        for (const problem of nullabilityProblems(definition, false)) report(place, problem)
        continue
      }
      const attribute = declareAttribute(name, definition, isPrimaryKey)
      if ('column' in attribute) attributes.set(name, attribute)
      else for (const problem of attribute) report(place, problem)
    }
  }
  return declared
}
