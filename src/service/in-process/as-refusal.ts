import { ServiceError } from '../../protocol/errors.ts'
import { OutsideOnlyError } from './transaction-scope.ts'

/** An action without a transaction cannot be part of one: its request is refused. */
export const asRefusal = (error: unknown): unknown =>
  error instanceof OutsideOnlyError ? new ServiceError('E_BAD_REQUEST', error.message, { cause: error }) : error
