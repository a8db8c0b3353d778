import type { Violation } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Maybe } from '../support/maybe.ts'
import type { AttributeType } from './attribute-type.ts'
import type { StandardIssue, StandardResult, StandardSchema } from './standard-schema.ts'

/** A schema may complain about every item of a long list; a person reads the first complaints. */
const mostIssues = 20

export type Verdict = { readonly value: Json } | { readonly violations: readonly Violation[] }

/** What the schema makes of the value. Throws when that is nothing that can be stored: a mistake of the declaration. */
export function askSchema(schema: StandardSchema, type: AttributeType, value: Json): Maybe<Verdict> {
  const result = schema['~standard'].validate(value)
  return 'then' in result ? Promise.resolve(result).then((later) => verdict(later, type)) : verdict(result, type)
}

function verdict(result: StandardResult<unknown>, type: AttributeType): Verdict {
  if (result.issues) return { violations: result.issues.slice(0, mostIssues).map(violation) }
  const value = result.value === null ? null : type.parse(result.value as Json)
  if (value === undefined) throw new Error(`A \`schema\` made something that is not ${type.noun}`)
  return { value }
}

function violation({ message, path = [] }: StandardIssue): Violation {
  const place = path.map((key) => String(typeof key === 'object' ? key.key : key)).join('.')
  return { rule: 'schema', message: place === '' ? `is not valid: ${message}` : `is not valid at ${place}: ${message}` }
}
