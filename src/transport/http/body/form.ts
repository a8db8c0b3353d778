import { parseQueryString } from '../../../protocol/query-string.ts'
import type { BodyFormat } from '../body-format.ts'

export const form: BodyFormat = {
  name: 'application/x-www-form-urlencoded',
  accepts: (type) => type === 'application/x-www-form-urlencoded',
  parse: parseQueryString,
}
