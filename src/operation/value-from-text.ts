import type { Attribute, Model } from '../model/model.ts'
import { acceptsEmptyText } from '../model/validate.ts'
import { requireShallow } from '../protocol/body-depth.ts'
import type { Json } from '../protocol/json.ts'
import { jsonInText } from '../protocol/json-size.ts'
import type { Limits } from '../support/limits.ts'

/**
 * The value that a format whose values are text means: a form, XML or a query string. A field that is left empty in a form
 * is sent as an empty text, and a checkbox as `on`. Other texts are converted by the type of the attribute, as in JSON.
 */
export function valueFromText(given: Json, attribute: Attribute, model: Model, limits: Limits): Json {
  if (typeof given !== 'string') return given
  const { storedAs } = attribute.type
  if (given === '') return isAbsent(attribute, model, limits) ? null : ''
  if (storedAs === 'json') return jsonFromText(given, limits)
  return given === 'on' && storedAs === 'boolean' ? true : given
}

/** Whether an empty text means null: the attribute may be null, and cannot be an empty text. No key is empty. */
const isAbsent = (attribute: Attribute, model: Model, { maxValueBytes }: Limits): boolean =>
  attribute.nullable &&
  !attribute.required &&
  (attribute.references !== undefined ||
    attribute.type.storedAs === 'json' ||
    !acceptsEmptyText(model, attribute, maxValueBytes))

/** The value that the text is JSON of, or the text. */
function jsonFromText(given: string, limits: Limits): Json {
  const value = jsonInText(given, limits)
  if (value === undefined) return given
  requireShallow(value, limits)
  return value
}
