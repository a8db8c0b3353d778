import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import { changingMembers, type MembersInput, type PreparedChange, readMembersInput } from './members.ts'
import { unlinkRecord } from './membership.ts'
import type { EmptyResult, RecordResult, WriteOperation } from './operation.ts'
import { omit, populate } from './parameters.ts'
import { keyParameter, parseKey } from './record-key.ts'

type RemoveInput = MembersInput & { readonly child: Json }

/** A record is no longer a member of an association. It is not changed otherwise. */
export const remove: WriteOperation<RemoveInput, RecordResult | EmptyResult, PreparedChange> = {
  name: 'remove',
  effect: 'writes',
  routes: [
    { method: 'DELETE', path: '/:model/:record/:association', style: 'rest' },
    { method: 'DELETE', path: '/:model/:record/:association/:child', style: 'rest' },
    { method: 'GET', path: '/:model/:record/:association/remove/:child', style: 'shortcut' },
    { method: 'GET', path: '/:model/:record/:association/remove', style: 'shortcut' },
  ],
  parameters: [populate, omit],

  parse(parameters, target, services) {
    const input = readMembersInput(parameters, target, services)
    const { target: model } = input.association
    const id = parameters.child ?? keyParameter(parameters, model)
    if (id === undefined)
      throw new ServiceError('E_BAD_REQUEST', `Missing ${model.name} id: give it in the path or as "id" in the body`)
    return { ...input, child: parseKey(id, model) }
  },

  ...changingMembers<RemoveInput>(({ child }) => ({ add: [], remove: [child] }), unlinkRecord),
}
