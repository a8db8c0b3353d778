import { type Explanation, explainAccess, explainOwnActions, explainRecord } from '../../access/explain.ts'
import { type Access, AccessPolicy, policyOf } from '../../access/policy.ts'
import type { DeclaredActions } from '../../model/actions/declare-actions.ts'
import type { Model, Models } from '../../model/model.ts'
import type { Requester } from '../../protocol/requester.ts'
import { requesterOf } from '../../service/auth/identify.ts'
import { definitionsOf } from '../../service/config/check-config.ts'
import type { AnyConfig } from '../../service/config/config.ts'
import { defaultRules } from '../../service/config/default-access.ts'
import { dialectOf, openStore } from '../../storage/stores.ts'
import { defaultLimits, type Limits } from '../../support/limits.ts'
import { printAccess, printOwnActions, printRecordAccess } from '../access-lines.ts'
import { assertDatabaseExists } from '../assert-database-exists.ts'
import { type Command, CommandError, type ExitCode, exitCode, UsageError } from '../command.ts'
import { modelNamed } from '../model-named.ts'
import type { Output } from '../output.ts'
import { readSettings, withoutUnsetDatabase } from '../settings.ts'

export const access: Command = {
  name: 'access',
  summary: 'Print what the access rules allow a user to do.',
  options: ['as', 'record', 'model', 'config', 'database', 'json', 'verbose'],
  arguments: ['model'],
  examples: [
    [`keelson access pet --as '{"id":7}'`, 'conditions, SQL and attributes of one model'],
    [`keelson access pet --as '{"id":7}' --record 3`, 'what is allowed for one record, and which rule refuses'],
    ['keelson access --as null', 'every model, for an anonymous requester'],
  ],

  async run(options, context): Promise<ExitCode> {
    const requester = requesterIn(options.as)
    if (options.record !== undefined && options.model === undefined)
      throw new UsageError('--record needs a model', 'For example: keelson access pet --record 3')
    const { config: given } = await readSettings(options, context)
    const config = options.record === undefined ? withoutUnsetDatabase(given) : given
    const { models, actions } = definitionsOf(config)
    const limits: Limits = { ...defaultLimits, ...config.limits }
    const served = [...models.values()].filter(({ isJunction }) => !isJunction)
    const named = (name: string) => modelNamed(name, served, nameOf, (near) => `keelson access ${near}`)
    const selected = options.model === undefined ? served : [named(options.model)]
    const policy = policyOf(models, defaultRules(config), limits, actions) ?? new AccessPolicy(models, {}, limits)
    const user = requester.kind === 'user' ? requester.user : null
    const allowed = policy.for(requester) as Access
    const printOwn = (own: DeclaredActions, model: Model | undefined) =>
      printOwnActions(
        model?.name,
        explained(() => explainOwnActions(policy, allowed, own, model)),
        context.output,
      )
    const dialect = config.database === undefined ? undefined : await dialectOf(config.database)
    for (const model of selected) {
      const explanation = explained(() => explainAccess(policy, allowed, model))
      if (options.record === undefined) printAccess(explanation, user, dialect, context.output)
      else await printRecord(explanation, options.record, { config, models, limits, output: context.output })
      if (options.record === undefined) printOwn(model.actions, model)
    }
    if (options.model === undefined) printOwn(actions, undefined)
    return exitCode.ok
  },
}

const nameOf = ({ name }: Model): string => name

/** The user of `--as`. Throws a UsageError unless it is a JSON object or null. */
function userIn(text = 'null'): Readonly<Record<string, unknown>> | null {
  let user: unknown
  try {
    user = JSON.parse(text)
  } catch {
    user = undefined
  }
  if (typeof user === 'object' && !Array.isArray(user)) return user as Readonly<Record<string, unknown>> | null
  throw new UsageError(`--as must be a JSON object or null, not ${text}`, `For example: --as '{"id":7,"role":"admin"}'`)
}

/** Throws a UsageError for a user that `identify` may not return. */
function requesterIn(text: string | undefined): Requester {
  const user = userIn(text)
  try {
    return requesterOf(user, Date.now)
  } catch (error) {
    throw new UsageError(`--as: ${(error as Error).message}`)
  }
}

function explained<T>(explain: () => T): T {
  try {
    return explain()
  } catch (error) {
    throw new CommandError((error as Error).message)
  }
}

interface RecordContext {
  readonly config: AnyConfig
  readonly models: Models
  readonly limits: Limits
  readonly output: Output
}

/** Reads the record. The schema is not changed. */
async function printRecord(explanation: Explanation, text: string, context: RecordContext): Promise<void> {
  const { config, models, limits, output } = context
  const { model } = explanation
  const id = model.primaryKey.type.parse(text)
  if (id === undefined) throw new UsageError(`The id of ${model.name} is ${model.primaryKey.type.noun}, not "${text}"`)
  assertDatabaseExists(config)
  const onError = (error: unknown) => output.error(`${error}`)
  const { store } = await openStore({ url: config.database as string, models, migrate: 'safe', limits, onError })
  await using _store = store
  const found = await explainRecord(explanation, id, store)
  if (!found) throw new CommandError(`There is no ${model.name} with the id ${text}`)
  printRecordAccess(explanation, id, found, output)
}
