export interface ContentType {
  /** In lower case, without parameters. */
  readonly type: string
  /** In lower case; absent when none is parameters. */
  readonly charset?: string | undefined
  /** The separator between the parts of a multipart body. */
  readonly boundary?: string | undefined
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const mediaType = new RegExp(`${token}/${token}`, 'y')
const separator = /[ \t]*;[ \t]*/y
const parameter = new RegExp(`(${token})=(?:(${token})|"((?:[^"\\\\]|\\\\.)*)")`, 'y')

/**
 * Parses a Content-Type to its last character; undefined when any part is invalid. Where programs parse half a header
 * differently, a body passes a check as one type and is read as another.
 */
export function parseContentType(header: string): ContentType | undefined {
  const type = matchAt(mediaType, header, 0)?.[0]
  if (type === undefined) return undefined
  const parameters = new Map<string, string>()
  let at = type.length
  while (at < header.length) {
    const gap = matchAt(separator, header, at)
    if (!gap) return undefined
    at += gap[0].length
    const found = matchAt(parameter, header, at)
    if (!found) continue
    at += found[0].length
    const name = (found[1] ?? '').toLowerCase()
    if (name !== 'charset' && name !== 'boundary') continue
    if (parameters.has(name)) return undefined
    parameters.set(name, found[2] ?? found[3] ?? '')
  }
  const content: ContentType = { type: type.toLowerCase(), charset: parameters.get('charset')?.toLowerCase() }
  const boundary = parameters.get('boundary')
  return boundary === undefined ? content : { ...content, boundary }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}
