import { ServiceError } from '../../../protocol/errors.ts'
import { nestParameters, type Parameter, tooManyParameters } from '../../../protocol/query-string.ts'
import type { Limits } from '../../../support/limits.ts'
import type { BodyFormat } from '../body-format.ts'

/** Text fields of a form (RFC 7578). Names are parsed like those of any form; files are refused. */
export const multipart: BodyFormat = {
  name: 'multipart/form-data',
  accepts: (type) => type === 'multipart/form-data',
  parse(text, limits, { boundary }) {
    if (boundary === undefined || boundary === '')
      throw bad('A multipart body needs a boundary parameter in its Content-Type')
    const fields = splitParts(text, boundary, limits).map(parseField)
    return nestParameters(
      fields.filter(([name]) => name !== ''),
      limits,
    )
  },
}

function splitParts(text: string, boundary: string, { maxParameters }: Limits): readonly string[] {
  // Two more than there are parts, so that too many are noticed.
  const sections = `\r\n${text}`.split(`\r\n--${boundary}`, maxParameters + 3)
  if (sections.length > maxParameters + 2) throw tooManyParameters({ maxParameters })
  const last = sections.pop()
  if (sections.length === 0 || !last?.startsWith('--')) throw bad('The multipart body does not end with its boundary')
  return sections.slice(1).map((section) => {
    const content = section.replace(/^[ \t]*\r\n/, '')
    if (content === section) throw bad('A boundary of the multipart body is not on a line of its own')
    return content
  })
}

const disposition = /^content-disposition:[ \t]*form-data(?=[;\s]|$)(.*)$/im
/** Any other than these would store the encoded text. */
const encoded = /^content-transfer-encoding:(?![ \t]*(?:7bit|8bit|binary)[ \t]*$)/im
const fieldName = /;[ \t]*name="((?:[^"\\]|\\.)*)"/i

function parseField(part: string): Parameter {
  const end = part.indexOf('\r\n\r\n')
  const head = end === -1 ? '' : part.slice(0, end)
  const parameters = disposition.exec(head)?.[1]
  const name = parameters === undefined ? undefined : fieldName.exec(parameters)?.[1]
  if (name === undefined) throw bad('A part of the multipart body has no field name')
  if (/;[ \t]*filename\*?=/i.test(parameters ?? ''))
    throw unsupported(`"${name.slice(0, 60)}" is a file; only text fields are supported`)
  if (encoded.test(head))
    throw unsupported(`"${name.slice(0, 60)}" has a Content-Transfer-Encoding; send the field as it is, in UTF-8`)
  return [unescapeName(name), part.slice(end + 4)]
}

/** Browsers percent-encode quotation marks and line breaks; other clients escape with a backslash. */
const unescapeName = (name: string): string =>
  name.replace(/\\(.)/g, '$1').replaceAll('%22', '"').replaceAll('%0D%0A', '\r\n')

const bad = (message: string): ServiceError => new ServiceError('E_BAD_BODY', message)
const unsupported = (message: string): ServiceError => new ServiceError('E_UNSUPPORTED_MEDIA_TYPE', message)
