import type { StandardIssue, StandardSchema } from '../../model/standard-schema.ts'
import { ServiceError, type Violation } from '../../protocol/errors.ts'
import { withinHookTime } from '../../protocol/within-hook-time.ts'
import type { Limits } from '../../support/limits.ts'

/** Reported issues of one input. */
const maxIssues = 20

/** The output of the schema. Throws E_INVALID_ATTRIBUTES with the path of each violation; without a schema, nothing is accepted. */
export async function validateInput(
  schema: StandardSchema | undefined,
  raw: unknown,
  action: string,
  limits: Pick<Limits, 'hookTimeoutMs'>,
): Promise<unknown> {
  if (!schema) {
    if (isEmpty(raw)) return undefined
    throw new ServiceError('E_BAD_REQUEST', `The action "${action}" takes no input`)
  }
  const validated = Promise.resolve(schema['~standard'].validate(raw))
  const result = await withinHookTime(validated, `The schema of the input of "${action}"`, limits)
  if (!result.issues) return result.value
  const issues = result.issues.slice(0, maxIssues).map(({ message, path }) => ({ path: pathOf(path), message }))
  const byPath = Map.groupBy(issues, ({ path }) => path)
  const violations = [...byPath].map(([path, ofPath]): [string, readonly Violation[]] => [
    path,
    ofPath.map(({ message }) => ({ rule: 'schema', message })),
  ])
  const message = issues.map(({ path, message }) => `"${path}": ${message}`).join('; ')
  throw new ServiceError('E_INVALID_ATTRIBUTES', message, { invalidAttributes: Object.fromEntries(violations) })
}

/** The result as its schema makes it. Throws for one that the schema refuses: an error of the action. */
export async function validateResult(schema: StandardSchema | undefined, value: unknown, action: string) {
  if (!schema) return value
  const result = await schema['~standard'].validate(value)
  if (!result.issues) return result.value
  const found = result.issues.slice(0, maxIssues).map(({ message, path }) => `"${pathOf(path)}": ${message}`)
  throw new Error(`The result of the action "${action}" is not what its schema declares: ${found.join('; ')}`)
}

const isEmpty = (raw: unknown): boolean =>
  raw === undefined || (typeof raw === 'object' && raw !== null && !Array.isArray(raw) && Object.keys(raw).length === 0)

/** `items.0.quantity`; an issue of the whole input is one of `input`. */
const pathOf = (path: StandardIssue['path'] = []): string =>
  path.length === 0 ? 'input' : path.map((key) => String(typeof key === 'object' ? key.key : key)).join('.')
