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

/** Something a value must satisfy. `check` says what is wrong in words that follow the attribute's name, or nothing. */
export interface Rule {
  readonly name: string
  /** What the declaration said, for descriptions of the model. */
  readonly expects?: Json
  /** Called with a value of the attribute's type, never with null. */
  check(value: Json): string | undefined
}

/** A rule as a definition names it. To add one: a key in `definition.ts`, a file in `rules/` and a line here. */
export interface RuleKind {
  readonly name: keyof AttributeDefinition
  readonly fits: readonly StorageClass[]
  /** The rule that the definition asks for; what is wrong with the way it asks; undefined when it does not. */
  make(definition: AttributeDefinition, type: AttributeType): Rule | string | undefined
}

/** `isInteger` and `isUUID` are not here: they choose the type, and the type refuses the rest. */
export const ruleKinds: readonly RuleKind[] = [isIn, min, max, minLength, maxLength, isEmail, isURL, regex, custom]

/** The rules that a definition asks for, and what is wrong with those that cannot be. */
export function rulesOf(
  definition: AttributeDefinition,
  type: AttributeType,
): { readonly rules: readonly Rule[]; readonly problems: readonly string[] } {
  const rules: Rule[] = []
  const problems: string[] = []
  for (const kind of ruleKinds) {
    const rule = kind.make(definition, type)
    if (rule === undefined) continue
    if (!kind.fits.includes(type.storedAs)) problems.push(`\`${kind.name}\` does not go with ${type.noun}`)
    else if (typeof rule === 'string') problems.push(rule)
    else rules.push(rule)
  }
  return { rules, problems }
}
