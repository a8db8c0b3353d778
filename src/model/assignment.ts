import type { Json } from '../protocol/json.ts'
import type { Attribute } from './model.ts'

/** One attribute and the value it gets: of the attribute's type and allowed by its rules, or null. */
export interface Assignment {
  readonly attribute: Attribute
  readonly value: Json
}
