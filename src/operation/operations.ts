import { create } from './create.ts'
import { destroy } from './destroy.ts'
import { find } from './find.ts'
import { findOne } from './find-one.ts'
import { update } from './update.ts'

/** Everything that can be asked of a model. */
export const operations = { find, findOne, create, update, destroy }
export type OperationName = keyof typeof operations
