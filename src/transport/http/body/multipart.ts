import { ServiceError } from '../../../protocol/errors.ts'
import { parseQueryString } from '../../../protocol/query-string.ts'
import type { BodyFormat } from '../body-format.ts'

/** Fields of text, as forms of browsers send them (RFC 7578). Names mean what they mean in any form; files are refused. */
export const multipart: BodyFormat = {
  name: 'multipart/form-data',
  accepts: (type) => type === 'multipart/form-data',
  parse(text, limits, { boundary }) {
    if (boundary === undefined || boundary === '') throw bad('A multipart body needs a boundary in its Content-Type')
    const fields = partsOf(text, boundary).map(fieldOf)
    const query = fields.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    return parseQueryString(query.join('&'), limits)
  },
}

function partsOf(text: string, boundary: string): readonly string[] {
  const pieces = `\r\n${text}`.split(`\r\n--${boundary}`)
  const last = pieces.pop()
  if (pieces.length === 0 || !last?.startsWith('--')) throw bad('The multipart body does not end with its boundary')
  return pieces.slice(1).map((piece) => {
    const content = piece.replace(/^[ \t]*\r\n/, '')
    if (content === piece) throw bad('A boundary of the multipart body does not stand on a line of its own')
    return content
  })
}

const disposition = /^content-disposition:[ \t]*form-data(?=[;\s]|$)(.*)$/im
const fieldName = /;[ \t]*name="((?:[^"\\]|\\.)*)"/i

function fieldOf(part: string): readonly [name: string, value: string] {
  const end = part.indexOf('\r\n\r\n')
  const head = end === -1 ? '' : part.slice(0, end)
  const parameters = disposition.exec(head)?.[1]
  const name = parameters === undefined ? undefined : fieldName.exec(parameters)?.[1]
  if (name === undefined) throw bad('A part of the multipart body does not say which field it is')
  if (/;[ \t]*filename\*?=/i.test(parameters ?? ''))
    throw unsupported(`"${name.slice(0, 60)}" is a file, and only text is taken`)
  return [plainName(name), part.slice(end + 4)]
}

/** Browsers escape the quotation mark and the ends of lines; others the backslash. */
const plainName = (name: string): string =>
  name.replace(/\\(.)/g, '$1').replaceAll('%22', '"').replaceAll('%0D%0A', '\r\n')

const bad = (message: string): ServiceError => new ServiceError('E_BAD_BODY', message)
const unsupported = (message: string): ServiceError => new ServiceError('E_UNSUPPORTED_MEDIA_TYPE', message)
