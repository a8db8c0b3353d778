import { validate } from '../model/validate.ts'
import { noSuchRecord, ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import { chain, type Maybe } from '../support/maybe.ts'
import { insertWith } from './insert-with.ts'
import { changeMembers, type MembersInput, readMembersInput } from './members.ts'
import { join } from './membership.ts'
import { parameter, type WriteOperation } from './operation.ts'
import { parseKey } from './record-key.ts'
import { type RecordValues, readValues } from './record-values.ts'

type AddInput = MembersInput &
  ({ readonly child: Json; readonly inPath: boolean } | { readonly child: undefined; readonly record: RecordValues })

/** A record becomes a member of an association: one that is there, or a new one made of the body. */
export const add: WriteOperation<AddInput> = {
  name: 'add',
  effect: 'writes',
  routes: [
    { method: 'POST', path: '/:model/:record/:association', style: 'rest' },
    { method: 'POST', path: '/:model/:record/:association/:child', style: 'rest' },
    { method: 'PUT', path: '/:model/:record/:association/:child', style: 'rest' },
    { method: 'GET', path: '/:model/:record/:association/add/:child', style: 'shortcut' },
    { method: 'GET', path: '/:model/:record/:association/add', style: 'shortcut' },
  ],

  parse(parameters, target, context) {
    const input = readMembersInput(parameters, target, context)
    const { target: model } = input.association
    const id = parameters.child ?? parameter(parameters, 'id')
    if (id !== undefined) return { ...input, child: parseKey(id, model), inPath: parameters.child !== undefined }
    if (parameters.style === 'shortcut')
      throw new ServiceError('E_BAD_REQUEST', `Say which ${model.name}: its id goes in the path`)
    return { ...input, child: undefined, record: readValues(parameters, model, context, { withKey: true }) }
  },

  run(input, { model }, store, context, asking) {
    const { association, parent } = input
    return changeMembers(input, model, store, asking, (transaction): Maybe<Json> => {
      if (input.child !== undefined) {
        const { child, inPath } = input
        return chain(
          orMissing(inPath, association.target.name, () => join(association, parent, child, transaction, context)),
          () => child,
        )
      }
      const { values, members } = input.record
      const complete = association.kind === 'hasMany' ? new Map([...values, [association.via.name, parent]]) : values
      return chain(validate(association.target, complete, 'create', context), (assignments) =>
        chain(insertWith(assignments, members, association.target, transaction, context), (created) => {
          const [child] = created.values(association.target.primaryKey) as [Json]
          return chain(
            association.kind === 'hasMany' ? undefined : join(association, parent, child, transaction, context),
            () => child,
          )
        }),
      )
    })
  },
}

/** Who stands in the path and is not there is not found; who is named in a body is a value that is wrong. */
function orMissing(inPath: boolean, model: string, work: () => Maybe<unknown>): Maybe<unknown> {
  if (!inPath) return work()
  const refuse = (error: unknown): never => {
    const isMissing =
      error instanceof ServiceError && Object.values(error.details.invalidAttributes ?? {})[0]?.[0]?.rule === 'exists'
    throw isMissing ? noSuchRecord(model) : error
  }
  try {
    const result = work()
    return result instanceof Promise ? result.catch(refuse) : result
  } catch (error) {
    return refuse(error)
  }
}
