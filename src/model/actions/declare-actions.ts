import type { Rule } from '../access-rules.ts'
import type { ErrorListener } from '../config-error.ts'
import { shapeAction } from '../definition-shape.ts'
import { folded } from '../names.ts'
import type { StandardSchema } from '../standard-schema.ts'
import type { ActionDefinition, ActionMethod, ActionSubject } from './action.ts'

/** An action whose declaration is checked. */
export interface DeclaredAction {
  readonly name: string
  readonly on: ActionSubject
  readonly method: ActionMethod
  readonly input: StandardSchema | undefined
  readonly result: StandardSchema | undefined
  /** Undefined: not declared. */
  readonly access: Rule | undefined
  /** False: it runs outside of a transaction. Actions by GET only read, and have none. */
  readonly isTransactional: boolean
  readonly description: string | undefined
  run(context: unknown): unknown
}

/** By name in lower case: addresses do not distinguish letter case. */
export type DeclaredActions = ReadonlyMap<string, DeclaredAction>

/** The functions of in-process records and the words of routes, in lower case: an action of this name would hide them. */
export const reservedActionNames: ReadonlySet<string> = new Set(
  [
    'find findOne count create createMany update updateMany destroy destroyMany upsert populate related add remove replace',
    'live batch then',
  ]
    .join(' ')
    .toLowerCase()
    .split(' '),
)

/** The subjects that actions may have where they are declared. */
export const modelSubjects: readonly ActionSubject[] = ['record', 'model']
export const serviceSubjects: readonly ActionSubject[] = ['service']

const nameForm = /^[A-Za-z][\w-]{0,63}$/

/** The actions of a model or of the configuration. `place` names it, and `taken` says what a name stands for already. */
export function declareActions(
  actions: unknown,
  place: string,
  subjects: readonly ActionSubject[],
  taken: (name: string) => string | undefined,
  onError: ErrorListener,
): DeclaredActions {
  const declared = new Map<string, DeclaredAction>()
  if (typeof actions !== 'object' || actions === null || Array.isArray(actions)) {
    onError(place, 'must be an object of actions by name')
    return declared
  }
  for (const [name, definition] of Object.entries(actions)) {
    const here = `${place}.${name}`
    const { valid, problems } = shapeAction(definition)
    for (const problem of [...problems, ...contradictions(name, valid, subjects, taken)]) onError(here, problem)
    const other = declared.get(folded(name))
    if (other) onError(here, `differs from the action "${other.name}" in letter case only`)
    else declared.set(folded(name), declaredAction(name, valid))
  }
  return declared
}

function contradictions(
  name: string,
  { on, run, method, transaction }: Partial<ActionDefinition>,
  subjects: readonly ActionSubject[],
  taken: (name: string) => string | undefined,
): readonly string[] {
  const owner = taken(name)
  return [
    ...(nameForm.test(name) ? [] : ['the name of an action consists of letters, digits, _ and -, at most 64']),
    ...(reservedActionNames.has(folded(name)) || name in Object.prototype
      ? ['an operation or a route has this name already']
      : []),
    ...(owner === undefined ? [] : [`${owner} has this name already`]),
    ...(on !== undefined && subjects.includes(on)
      ? []
      : [`\`on\` must be ${subjects.map((subject) => `'${subject}'`).join(' or ')} here`]),
    ...(run === undefined ? ['`run` is missing'] : []),
    ...(method === 'GET' && transaction !== undefined
      ? ["`transaction` cannot be used with method 'GET': the action only reads"]
      : []),
  ]
}

const declaredAction = (
  name: string,
  { on = 'record', method = 'POST', input, result, access, transaction, description, run }: Partial<ActionDefinition>,
): DeclaredAction => ({
  name,
  on,
  method,
  input,
  result,
  access: access as Rule | undefined,
  isTransactional: transaction !== false && method !== 'GET',
  description,
  run: run as DeclaredAction['run'],
})
