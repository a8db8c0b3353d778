import type { Violation } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import type { AttributeType } from './attribute-type.ts'
import type { StandardIssue, StandardResult, StandardSchema } from './standard-schema.ts'

/** Reported issues of one value: a schema may report one for each item of a long list. */
const maxIssues = 20

export type SchemaResult = { readonly value: Json } | { readonly violations: readonly Violation[] }

/** Validates and transforms a value by its schema. Throws if the output cannot be stored: an error of the declaration. */
export function validateBySchema(schema: StandardSchema, type: AttributeType, value: Json): MaybePromise<SchemaResult> {
  const result = schema['~standard'].validate(value)
  return 'then' in result
    ? Promise.resolve(result).then((settled) => readResult(settled, type))
    : readResult(result, type)
}

function readResult(result: StandardResult<unknown>, type: AttributeType): SchemaResult {
  if (result.issues) return { violations: result.issues.slice(0, maxIssues).map(violation) }
  const value = result.value === null ? null : type.parse(result.value as Json)
  if (value === undefined) throw new Error(`the output of \`schema\` is not ${type.noun}`)
  return { value }
}

function violation({ message, path = [] }: StandardIssue): Violation {
  const location = path.map((key) => String(typeof key === 'object' ? key.key : key)).join('.')
  return {
    rule: 'schema',
    message: location === '' ? `is not valid: ${message}` : `is not valid at ${location}: ${message}`,
  }
}
