import type { RecordId } from '../protocol/change.ts'
import { noSuchRecord, ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { ScopedReads } from '../storage/scoped-store.ts'
import { assertDefined } from '../support/assert.ts'
import type { HookCaller } from './hooks/before.ts'
import type { LinkedWrite } from './hooks/linked-changes.ts'
import { insertRecord, keyOf } from './insert-record.ts'
import { NewMember } from './member-changes.ts'
import {
  changeMembers,
  type MembersChange,
  type MembersInput,
  type PreparedChange,
  prepareChange,
  readMembersInput,
  requireParent,
} from './members.ts'
import { linkRecord } from './membership.ts'
import type { EmptyResult, Invocation, OperationServices, RecordResult, WriteOperation } from './operation.ts'
import { omit, parameterValue, populate } from './parameters.ts'
import { isCurrent } from './prepare-members.ts'
import { type PreparedRecord, prepareRecord } from './prepare-record.ts'
import { existingKey, parseKey } from './record-key.ts'
import { type ReadValues, readValues } from './record-values.ts'
import { writtenSubscriptions } from './subscriptions.ts'

type AddExistingInput = MembersInput & { readonly child: Exclude<Json, undefined>; readonly inPath: boolean }
type AddNewInput = MembersInput & { readonly child: undefined; readonly record: ReadValues }
type AddInput = AddExistingInput | AddNewInput

export interface PreparedAdd extends PreparedChange {
  /** A new member. */
  readonly record: PreparedRecord | undefined
}

/** A record becomes a member of an association: an existing one, or a new one made from the body. */
export const add: WriteOperation<AddInput, RecordResult | EmptyResult, PreparedAdd> = {
  name: 'add',
  effect: 'writes',
  routes: [
    { method: 'POST', path: '/:model/:record/:association', style: 'rest' },
    { method: 'POST', path: '/:model/:record/:association/:child', style: 'rest' },
    { method: 'PUT', path: '/:model/:record/:association/:child', style: 'rest' },
    { method: 'GET', path: '/:model/:record/:association/add/:child', style: 'shortcut' },
    { method: 'GET', path: '/:model/:record/:association/add', style: 'shortcut' },
  ],
  parameters: [populate, omit],

  parse(parameters, target, services) {
    const input = readMembersInput(parameters, target, services)
    const { target: model } = input.association
    if (parameters.child !== undefined) return { ...input, child: existingKey(parameters.child, model), inPath: true }
    const id = parameterValue(parameters, { name: 'id' })
    if (id !== undefined) return { ...input, child: parseKey(id, model), inPath: false }
    if (parameters.style === 'shortcut')
      throw new ServiceError('E_BAD_REQUEST', `Missing ${model.name} id: give it in the path`)
    return { ...input, child: undefined, record: readValues(parameters, model, services, { withKey: true }) }
  },

  prepare,

  run: (invocation, prepared, store, services) =>
    changeMembers(
      invocation,
      {
        change: joining(invocation.input),
        prepared,
        prepareAgain: () => prepare(invocation, store, services),
        async write(context, { record }) {
          const { input } = invocation
          if (input.child !== undefined) return { member: await addExisting(input, context) }
          const added = assertDefined(record, 'a new member that is not prepared')
          if (!(await isCurrent(added, context.transaction, services))) return undefined
          return { member: await addNew(input, added, context) }
        },
      },
      store,
      services,
    ),

  /** The member as well, also when it was one before. */
  subscriptions(result, { input: { association } }) {
    const parent = writtenSubscriptions(result)
    if (result.kind === 'empty') return parent
    const member = { model: association.target.name, ids: [result.member as RecordId] }
    return { ...parent, records: [...parent.records, member] }
  },
}

async function prepare(
  invocation: Invocation<AddInput>,
  reads: ScopedReads,
  services: OperationServices,
): Promise<PreparedAdd> {
  const { input, requester } = invocation
  const record =
    input.child === undefined ? await prepareNew(invocation, input, { requester, reads, services }) : undefined
  return { record, ...(await prepareChange(invocation, joining(input), reads, services)) }
}

/** No hook runs for a new record where none may be added. */
async function prepareNew(
  invocation: Invocation<AddInput>,
  { association, parent, record }: AddNewInput,
  caller: HookCaller,
): Promise<PreparedRecord> {
  const { reads, services } = caller
  if (services.hooks) {
    await requireParent(invocation, reads)
    await reads.assertMayChangeMembers?.('add', association, [parent])
    reads.assertMayCreate?.(association.target)
  }
  const reference = association.kind === 'hasMany' ? association.via : undefined
  return prepareRecord(association.target, record, 'create', caller, { reference })
}

const joining = ({ child }: AddInput): MembersChange => ({
  add: child === undefined ? [] : [child],
  remove: [],
  created: child === undefined ? 1 : 0,
})

async function addExisting(
  { association, parent, child, inPath }: AddExistingInput,
  context: LinkedWrite,
): Promise<Json> {
  try {
    await linkRecord({ association, parent, child }, context)
  } catch (error) {
    throw inPath && isMissingTarget(error) ? noSuchRecord(association.target.name) : error
  }
  return child
}

async function addNew({ association, parent }: AddInput, record: PreparedRecord, context: LinkedWrite): Promise<Json> {
  const { transaction, services } = context
  if (association.kind === 'hasMany') {
    const stored = await insertRecord(record, transaction, services, new Map([[association.via, parent]]))
    return keyOf(stored, record.model)
  }
  const child = keyOf(await insertRecord(record, transaction, services), record.model)
  await linkRecord({ association, parent, child }, context, new NewMember(0))
  return child
}

/** A record that is named in the path is not found; one that is named in the body is an invalid value. */
const isMissingTarget = (error: unknown): boolean =>
  error instanceof ServiceError && Object.values(error.details.invalidAttributes ?? {})[0]?.[0]?.rule === 'exists'
