import type { Rule } from '../model/access-rules.ts'
import { type Attribute, everyAttribute, type Model, type Models } from '../model/model.ts'

/** An attribute that has a rule of its own. */
export interface RuledAttribute {
  readonly attribute: Attribute
  readonly model: Model
  readonly read: Rule
  readonly write: Rule
}

/** `isDeclared`: whether access is declared for a model as a whole. */
export const ruledAttributes = (
  models: Models,
  isDeclared: (model: Model) => boolean,
): ReadonlyMap<Attribute, RuledAttribute> =>
  new Map(
    [...models.values()]
      .flatMap((model) => {
        const hasRules = isDeclared(model) || everyAttribute(model).some(({ access }) => access !== undefined)
        return everyAttribute(model).flatMap((attribute) => ruledAttribute(attribute, model, hasRules))
      })
      .map((ruled) => [ruled.attribute, ruled]),
  )

function ruledAttribute(attribute: Attribute, model: Model, hasRules: boolean): readonly RuledAttribute[] {
  const { access, hidden, readOnly } = attribute
  if (!access && !hidden && !readOnly) return []
  // In a model with rules, what is never shown is not written by requesters either, unless a rule says so: a password, as
  // opposed to its hash.
  const write = readOnly ? false : (access?.write ?? !(hidden && hasRules))
  return [{ attribute, model, read: access?.read ?? true, write }]
}

/** In messages. */
export const attributeRuleName = (use: 'read' | 'write', { model, attribute }: RuledAttribute): string =>
  `The access rule \`${use}\` of ${model.name}.${attribute.name}`
