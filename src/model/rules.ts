import type { Json } from '../protocol/json.ts'
import type { AttributeType, StorageClass } from './attribute-type.ts'
import type { AttributeDefinition } from './definition.ts'
import { custom } from './rules/custom.ts'
import { isEmail } from './rules/is-email.ts'
import { isIn } from './rules/is-in.ts'
import { isURL } from './rules/is-url.ts'
import { max } from './rules/max.ts'
import { maxLength } from './rules/max-length.ts'
import { min } from './rules/min.ts'
import { minLength } from './rules/min-length.ts'
import { regex } from './rules/regex.ts'

/** A constraint on values. `check` returns undefined, or a message that continues the attribute's name. */
export interface Rule {
  readonly name: string
  /** The declared parameter, for descriptions of the model. */
  readonly expects?: Json
  /** Called with a value of the attribute's type, never with null. */
  check(value: Json): string | undefined
}

/** A kind of rule. To add one, add a key in `definition.ts`, a file in `rules/` and a line here. */
export interface RuleKind {
  readonly name: keyof AttributeDefinition
  readonly fits: readonly StorageClass[]
  /** The rule of a definition, or a problem as a text, or undefined if the definition does not use the kind. */
  make(definition: AttributeDefinition, type: AttributeType): Rule | string | undefined
}

/** Without `isInteger` and `isUUID`, which select the type of the attribute. */
const ruleKinds: readonly RuleKind[] = [isIn, min, max, minLength, maxLength, isEmail, isURL, regex, custom]

/** The rules of a definition, and its problems. */
export function rulesOf(
  definition: AttributeDefinition,
  type: AttributeType,
): { readonly rules: readonly Rule[]; readonly problems: readonly string[]; readonly emptyIsNull?: boolean } {
  const rules: Rule[] = []
  const problems: string[] = []
  for (const kind of ruleKinds) {
    const rule = kind.make(definition, type)
    if (rule === undefined) continue
    if (!kind.fits.includes(type.storedAs)) problems.push(`\`${kind.name}\` cannot be used with ${type.noun}`)
    else if (typeof rule === 'string') problems.push(rule)
    else rules.push(rule)
  }
  return { rules, problems }
}
