export interface ContentType {
  /** In lower case, without parameters. */
  readonly type: string
  /** In lower case; absent when none is named. */
  readonly charset?: string | undefined
  /** What stands between the parts of a body that has several. */
  readonly boundary?: string | undefined
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const mediaType = new RegExp(`${token}/${token}`, 'y')
const separator = /[ \t]*;[ \t]*/y
const parameter = new RegExp(`(${token})=(?:(${token})|"((?:[^"\\\\]|\\\\.)*)")`, 'y')

/**
 * Reads a Content-Type to its last character, or not at all (undefined). What one program understands by half a
 * header and another by the rest is how a body passes a check as one type and is read as another.
 */
export function parseContentType(header: string): ContentType | undefined {
  const type = take(mediaType, header, 0)?.[0]
  if (type === undefined) return undefined
  const named = new Map<string, string>()
  let at = type.length
  while (at < header.length) {
    const gap = take(separator, header, at)
    if (!gap) return undefined
    at += gap[0].length
    const found = take(parameter, header, at)
    if (!found) continue
    at += found[0].length
    const name = (found[1] ?? '').toLowerCase()
    if (name !== 'charset' && name !== 'boundary') continue
    if (named.has(name)) return undefined
    named.set(name, found[2] ?? found[3] ?? '')
  }
  const content: ContentType = { type: type.toLowerCase(), charset: named.get('charset')?.toLowerCase() }
  const boundary = named.get('boundary')
  return boundary === undefined ? content : { ...content, boundary }
}

function take(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}
