import { ServiceError } from '../protocol/errors.ts'
import { chain } from '../support/maybe.ts'
import { changeMembers, type MembersInput, readMembersInput } from './members.ts'
import { replaceMembers } from './membership.ts'
import { parameter, type WriteOperation } from './operation.ts'
import { type Members, readMembers } from './record-values.ts'

/** These become the members of an association, and no others are. */
export const replace: WriteOperation<MembersInput & { readonly members: Members }> = {
  name: 'replace',
  effect: 'writes',
  routes: [
    { method: 'PUT', path: '/:model/:record/:association', style: 'rest' },
    { method: 'GET', path: '/:model/:record/:association/replace', style: 'shortcut' },
  ],

  parse(parameters, target, context) {
    const input = readMembersInput(parameters, target, context)
    const { association } = input
    const given = parameters.list ?? parameter(parameters, association.name)
    const members = given === undefined ? undefined : readMembers(given, association, context.limits.maxAssociated)
    if (members === undefined || typeof members === 'string') {
      const message = `"${association.name}" ${members ?? `takes a list of ids of ${association.target.name}`}`
      throw new ServiceError('E_BAD_REQUEST', message, { attribute: association.name })
    }
    return { ...input, members: { ...members, wereRecords: false } }
  },

  run(input, { model }, store, context, asking) {
    return changeMembers(input, model, store, asking, (transaction) =>
      chain(replaceMembers(input.members, input.parent, transaction, context), () => undefined),
    )
  },
}
