import type { Association, Attribute, Model } from '../../model/model.ts'
import type { Invocation, Operation, OperationResult, ParameterValues } from '../../operation/operation.ts'
import { type OperationName, operationNamed } from '../../operation/operations.ts'
import { existingKey } from '../../operation/record-key.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import type { ReadOptions } from '../../storage/store.ts'
import type { WriteOrigin } from '../../storage/write-origin.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'
import { actionsOf, type Writing } from '../actions/in-process.ts'
import { type Authorization, assertAllowed } from '../dispatch/authorize.ts'
import type { DispatchContext } from '../dispatch/context.ts'
import { execute } from '../dispatch/execute.ts'
import { type LooseLiveEvents, type LooseLiveOptions, liveRecords } from '../live/live-records.ts'
import { type LooseResults, liveResults } from '../live/live-results.ts'
import {
  assertOptions,
  associationNamed,
  findOneTakesId,
  keyOf,
  listOptions,
  nothing,
  optionsOf,
  selectionOf,
  valuesOf,
} from './record-arguments.ts'
import { assertNoTransaction, openScope, TransactionError, type TransactionScope } from './transaction-scope.ts'

export interface LoosePage {
  readonly data: readonly JsonObject[]
  readonly next: string | null
  readonly total?: number
}

/** The records of one model, for code in the same process. The public entry point lays the promised types over it. */
export interface LooseRecords {
  find(options?: JsonObject): Promise<LoosePage>
  findOne(id: Json, options?: JsonObject): Promise<JsonObject | undefined>
  count(options?: JsonObject): Promise<number>
  create(values: JsonObject): Promise<JsonObject>
  createMany(list: readonly JsonObject[]): Promise<readonly JsonObject[]>
  upsert(attribute: string, values: JsonObject): Promise<JsonObject>
  update(id: Json, values: JsonObject): Promise<JsonObject>
  updateMany(options: JsonObject, values: JsonObject): Promise<readonly JsonObject[] | number>
  destroy(id: Json): Promise<JsonObject>
  destroyMany(options: JsonObject): Promise<readonly JsonObject[] | number>
  related(id: Json, association: string, options?: JsonObject): Promise<LoosePage | JsonObject | undefined>
  add(id: Json, association: string, member: Json): Promise<JsonObject>
  remove(id: Json, association: string, member: Json): Promise<JsonObject>
  replace(id: Json, association: string, members: readonly Json[]): Promise<JsonObject>
  live(options?: LooseLiveOptions): LooseLiveEvents
  liveQuery(options?: JsonObject): LooseResults
}

/** The operations of the routes on the same path through authorization and execution; only parsing of bytes is left out. */
export function recordsOf(
  context: DispatchContext,
  model: Model,
  { authorization: authorize, scope, origin, client, isReadOnly = false }: Caller,
): LooseRecords {
  const run = async (name: OperationName, given: Given): Promise<OperationResult> =>
    runOperation(operationNamed(name), (authorization) => parse(name, given, authorization))
  const runOperation = async (operation: Operation, parse: Parse): Promise<OperationResult> => {
    if (isReadOnly && operation.effect === 'writes') throw new Error(`${operation.name}: an action by GET only reads`)
    if (scope) return scope.operate(operation.effect, () => invoke(operation, parse), authorize().access !== undefined)
    assertNoTransaction(context.store)
    return invoke(operation, parse)
  }
  const invoke = (operation: Operation, parse: Parse): MaybePromise<OperationResult> => {
    const authorization = authorize()
    const invocation = { operation, ...parse(authorization), requester: authorization.requester, origin, client }
    return execute(invocation, authorization, context)
  }
  /** A write of a transaction fails it, also where the program does not wait for the write. */
  const writing: Writing = (call) => (scope && !isReadOnly ? (...given) => scope.failWith(call(...given)) : call)
  const viewOf = ({ access }: Authorization): Model => (access ? access.views.of(model) : model)
  const parse = (name: OperationName, { association, ...given }: Given, authorization: Authorization): Parsed => {
    const { access } = authorization
    const view = viewOf(authorization)
    // One that the requester may not read is unknown to it.
    const target = { model: view, association: association && associationNamed(association.name, view) }
    const parameters = {
      style: 'rest',
      query: nothing,
      body: nothing,
      populates: false,
      mayWrite: access && ((attribute: Attribute) => access.mayWrite(attribute)),
      ...given,
    } as const
    return { target, input: operationNamed(name).parse(parameters, target, context.services) }
  }
  const of = (id: Json) => ({ record: keyOf(id, model) })
  const within = (id: Json, name: string) => ({ ...of(id), association: associationNamed(name, model) })
  const member = (id: Json, name: string, child: Json) => {
    const given = within(id, name)
    return { ...given, child: keyOf(child, given.association.target) }
  }
  return {
    ...actionsOf(context, model, {
      keyOf: (id) => existingKey(keyOf(id, model), model),
      run: (operation, input) =>
        runOperation(operation, (authorization) => ({ target: { model: viewOf(authorization) }, input })),
      writing,
    }),
    find: async (options) => page(await run('find', { body: listOptions(options, model) })),
    findOne: (id, options) =>
      orUndefined(async () => {
        if (typeof id === 'object' && id !== null) throw new ServiceError('E_BAD_REQUEST', findOneTakesId)
        return run('findOne', { ...of(id), body: optionsOf('findOne', options, model) })
      }),
    count: async (options = nothing) => {
      assertOptions(options)
      const { where = {}, ...others } = options
      return numberIn(await run('count', { body: optionsOf('count', { ...others, where }, model) }))
    },
    create: writing(async (values) => recordIn(await run('create', { body: valuesOf('create', values) }))),
    update: writing(async (id, values) =>
      recordIn(await run('update', { ...of(id), body: valuesOf('update', values) })),
    ),
    createMany: writing(async (list) => {
      if (!Array.isArray(list))
        throw new ServiceError('E_BAD_BODY', '`createMany` takes a list of objects of attributes')
      return listIn(await run('createMany', { list }))
    }),
    upsert: writing(async (attribute, values) =>
      recordIn(await run('upsert', { query: { upsert: attribute }, body: valuesOf('upsert', values) })),
    ),
    updateMany: writing(async (options, values) => {
      const query = selectionOf('updateMany', options, model)
      return listIn(await run('updateMany', { query, body: valuesOf('updateMany', values) }))
    }),
    destroyMany: writing(async (options) =>
      listIn(await run('destroyMany', { query: selectionOf('destroyMany', options, model) })),
    ),
    destroy: writing(async (id) => recordIn(await run('destroy', of(id)))),
    related: async (id, name, options) => {
      const given = within(id, name)
      if (given.association.kind !== 'belongsTo')
        return page(await run('populate', { ...given, body: listOptions(options, given.association.target) }))
      return orUndefined(() =>
        run('populate', { ...given, body: optionsOf('findOne', options, given.association.target) }),
      )
    },
    add: writing(async (id, name, child) => recordIn(await run('add', member(id, name, child)))),
    remove: writing(async (id, name, child) => recordIn(await run('remove', member(id, name, child)))),
    replace: writing(async (id, name, list) => recordIn(await run('replace', { ...within(id, name), list }))),
    live(options = {}) {
      if (scope || openScope(context.store))
        throw new TransactionError('E_IN_TRANSACTION', 'Events follow the commit: subscribe outside of the transaction')
      const authorization = authorize()
      const { access } = authorization
      if (access) assertAllowed(operationNamed('find'), { model }, access)
      const { subscriptions, services } = context
      const view = access ? access.views.of(model) : model
      const isForClient = client !== undefined
      return liveRecords(options, { model: view, authorization, subscriptions, limits: services.limits, isForClient })
    },
    liveQuery(options = {}) {
      if (scope || openScope(context.store))
        throw new TransactionError(
          'E_IN_TRANSACTION',
          'Results follow the commit: subscribe outside of the transaction',
        )
      return liveResults(options, model, authorize(), context.liveStreams)
    },
  }
}

/** On whose behalf operations run, and in which transaction. */
export interface Caller {
  /** Made for each call, so that the rules are evaluated anew. */
  readonly authorization: () => Authorization
  /** Undefined: each operation is its own transaction. */
  readonly scope?: TransactionScope
  /** What caused the operations, for the change log. */
  readonly origin?: WriteOrigin | undefined
  /** The client that the records are read for: reads are bounded as those for an answer to it are. */
  readonly client?: ReadOptions | undefined
  /** Writes are refused. */
  readonly isReadOnly?: boolean
}

type Parsed = Pick<Invocation, 'target' | 'input'>
type Parse = (authorization: Authorization) => Parsed

/** What a call adds to the parameters that are the same for all. */
interface Given extends Partial<ParameterValues> {
  readonly association?: Association
}

function page(result: OperationResult): LoosePage {
  if (result.kind !== 'records') throw unexpected(result)
  const { records, next, total } = result
  return { data: records.decode(), next: next ?? null, ...(total !== undefined && { total }) }
}

/** A record that the requester may write and not read is an object without attributes. */
function recordIn(result: OperationResult): JsonObject {
  if (result.kind === 'empty') return {}
  if (result.kind !== 'record') throw unexpected(result)
  return result.records.decode()[0] as JsonObject
}

/** The records, or their number where only that was asked for. */
function listIn(result: OperationResult): never {
  if (result.kind === 'json') return (result.value as { readonly count: number }).count as never
  if (result.kind !== 'records') throw unexpected(result)
  return result.records.decode() as never
}

function numberIn(result: OperationResult): number {
  if (result.kind !== 'json') throw unexpected(result)
  return result.value as number
}

const unexpected = ({ kind }: OperationResult): Error => new Error(`Bug in keelson: unexpected result "${kind}"`)

async function orUndefined(ask: () => Promise<OperationResult>): Promise<JsonObject | undefined> {
  try {
    return recordIn(await ask())
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'E_NO_SUCH_RECORD') return undefined
    throw error
  }
}
