import type { Json } from '../protocol/json.ts'
import type { Attribute } from './model.ts'

/** A validated value for an attribute: of its type and allowed by its rules, or null. */
export interface Assignment {
  readonly attribute: Attribute
  readonly value: Json
}
