import type { Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'

/** E_CONFLICT for a transaction that would change rows of more bytes. */
export const tooLargeAffected = ({ name }: Model, max: number): ServiceError =>
  new ServiceError(
    'E_CONFLICT',
    `The operation would change records of more than ${max} bytes. Change or remove them in several requests, each with a condition that fewer of them fulfil`,
    { limit: 'maxAffectedBytes', model: name },
  )

/** E_CONFLICT for a record that would have more bytes. */
export const tooLargeRecord = ({ name }: Model, max: number): ServiceError =>
  new ServiceError('E_CONFLICT', `The values of the ${name} would have more than ${max} bytes together`, {
    limit: 'maxRecordBytes',
    model: name,
  })

/** E_CONFLICT for a transaction that would change more rows than one operation may. */
export const tooManyAffected = ({ name }: Model, max: number): ServiceError =>
  new ServiceError(
    'E_CONFLICT',
    `The operation would change more than ${max} records. Change or remove the associated records first, in several requests of at most ${max} records each`,
    { limit: 'maxAffected', model: name },
  )
