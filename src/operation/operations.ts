import { add } from './add.ts'
import { create } from './create.ts'
import { destroy } from './destroy.ts'
import { find } from './find.ts'
import { findOne } from './find-one.ts'
import { populate } from './populate.ts'
import { remove } from './remove.ts'
import { replace } from './replace.ts'
import { update } from './update.ts'

/** Everything that can be asked of a model. */
export const operations = { find, findOne, create, update, destroy, populate, add, remove, replace }
export type OperationName = keyof typeof operations
