import type { Violation } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import { type Attribute, type Model, originalOf } from './model.ts'

/** An id may be a long text. */
const shownLength = 60

/**
 * Of a reference to a record that does not exist, or that the requester may not read: the message does not say which. `id` is
 * given where the requester has sent it.
 */
export function missingTarget(target: string, id?: Json): Violation {
  const shown = id === undefined ? '' : ` with the id ${JSON.stringify(id).slice(0, shownLength)}`
  return { rule: 'exists', message: `names no existing ${target}${shown}` }
}

/** Of the value of an attribute. A hook of the model may have found it where the requester may not read: it is not shown then. */
export const missingReference = ({ references }: Attribute, value: Json, model: Model): Violation =>
  missingTarget((references as Model).name, originalOf(model).hooks ? undefined : value)
