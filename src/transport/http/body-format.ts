import type { Json } from '../../protocol/json.ts'
import type { Limits } from '../../support/limits.ts'
import type { ContentType } from './content-type.ts'

/** A way to write a body that can be read here. To add one, add a file and a line in the list of `parse-body.ts`. */
export interface BodyFormat {
  /** Its content type, as a refusal names it. */
  readonly name: string
  /** `type` is in lower case and has no parameters. */
  accepts(type: string): boolean
  /** Throws a ServiceError for a text that is not of this format. */
  parse(text: string, limits: Limits, content: ContentType): Json
}
