import { add } from './add.ts'
import { count } from './count.ts'
import { create } from './create.ts'
import { createMany } from './create-many.ts'
import { destroy } from './destroy.ts'
import { destroyMany } from './destroy-many.ts'
import { find } from './find.ts'
import { findOne } from './find-one.ts'
import type { Operation } from './operation.ts'
import { populate } from './populate.ts'
import { remove } from './remove.ts'
import { replace } from './replace.ts'
import { update } from './update.ts'
import { updateMany } from './update-many.ts'
import { upsert } from './upsert.ts'

/** Everything that can be done with a model. */
export const operations = {
  find,
  findOne,
  count,
  create,
  upsert,
  createMany,
  update,
  updateMany,
  destroy,
  destroyMany,
  populate,
  add,
  remove,
  replace,
}
export type OperationName = keyof typeof operations

/** By name, where the types of input and result are of no interest. */
export const operationNamed = (name: OperationName): Operation => operations[name] as unknown as Operation
