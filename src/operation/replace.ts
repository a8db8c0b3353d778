import type { RecordId } from '../protocol/change.ts'
import { ServiceError } from '../protocol/errors.ts'
import { type Members, readMembers } from './member-values.ts'
import { changingMembers, type MembersInput, type PreparedChange, readMembersInput } from './members.ts'
import { replaceMembers } from './membership.ts'
import type { EmptyResult, RecordResult, WriteOperation } from './operation.ts'
import { omit, type Parameter, parameterValue, populate } from './parameters.ts'
import { writtenSubscriptions } from './subscriptions.ts'

/** The name of the list in Sails 1.x, where the association's own name is not used. */
const fks: Parameter = { name: 'fks', doc: 'the ids of the members, as an alternative to the name of the association' }

type ReplaceInput = MembersInput & { readonly members: Members }

/** These records become the members of an association, and no others. */
export const replace: WriteOperation<ReplaceInput, RecordResult | EmptyResult, PreparedChange> = {
  name: 'replace',
  effect: 'writes',
  routes: [
    { method: 'PUT', path: '/:model/:record/:association', style: 'rest' },
    { method: 'GET', path: '/:model/:record/:association/replace', style: 'shortcut' },
  ],
  parameters: [fks, populate, omit],
  acceptsList: true,

  parse(parameters, target, services) {
    const input = readMembersInput(parameters, target, services)
    const { association } = input
    const given = parameters.list ?? parameterValue(parameters, association) ?? parameterValue(parameters, fks)
    const members = given === undefined ? undefined : readMembers(given, association, services.limits.maxAssociated)
    if (members === undefined || 'rule' in members) {
      const message = `"${association.name}" ${members?.message ?? `takes a list of ids of ${association.target.name}`}`
      const limit = members?.rule === 'maxAssociated' ? { limit: members.rule } : {}
      throw new ServiceError('E_BAD_REQUEST', message, { attribute: association.name, ...limit })
    }
    return { ...input, members: { ...members, wereRecords: false } }
  },

  ...changingMembers<ReplaceInput>(({ members }) => ({ add: members.ids, remove: 'others' }), replaceMembers),

  /** Among the members, those that the change log reports as added. */
  subscriptions(result, { input: { association, parent }, target: { model } }) {
    const { name, target } = association
    const added = { model: model.name, id: parent as RecordId, attribute: name, target: target.name }
    return { ...writtenSubscriptions(result), added }
  },
}
