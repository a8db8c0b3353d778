import type { Json } from '../../protocol/json.ts'
import type { Limits } from '../../support/limits.ts'
import type { ContentType } from './content-type.ts'

/** A supported format of request bodies. To add one, add a file in `body/` and a line to the list in `parse-body.ts`. */
export interface BodyFormat {
  /** Its content type, as error messages name it. */
  readonly name: string
  /** `type` is in lower case, without parameters. */
  accepts(type: string): boolean
  /** Throws a ServiceError when the text is not of this format. */
  parse(text: string, limits: Limits, content: ContentType): Json
}
