import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import { chain } from '../support/maybe.ts'
import { changeMembers, type MembersInput, readMembersInput } from './members.ts'
import { leave } from './membership.ts'
import { parameter, type WriteOperation } from './operation.ts'
import { parseKey } from './record-key.ts'

/** A record is no longer a member of an association. It stays what it is otherwise. */
export const remove: WriteOperation<MembersInput & { readonly child: Json }> = {
  name: 'remove',
  effect: 'writes',
  routes: [
    { method: 'DELETE', path: '/:model/:record/:association', style: 'rest' },
    { method: 'DELETE', path: '/:model/:record/:association/:child', style: 'rest' },
    { method: 'GET', path: '/:model/:record/:association/remove/:child', style: 'shortcut' },
    { method: 'GET', path: '/:model/:record/:association/remove', style: 'shortcut' },
  ],

  parse(parameters, target, context) {
    const input = readMembersInput(parameters, target, context)
    const id = parameters.child ?? parameter(parameters, 'id')
    if (id === undefined) {
      throw new ServiceError(
        'E_BAD_REQUEST',
        `Say which ${input.association.target.name}: its id goes in the path, or as "id" in the body`,
      )
    }
    return { ...input, child: parseKey(id, input.association.target) }
  },

  run(input, { model }, store, context, asking) {
    const { association, parent, child } = input
    return changeMembers(input, model, store, asking, (transaction) =>
      chain(leave(association, parent, child, transaction, context), () => undefined),
    )
  },
}
