export interface ContentType {
  /** In lower case, without parameters. */
  readonly type: string
  /** In lower case; absent when none is named. */
  readonly charset?: string | undefined
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
  let charset: string | undefined
  let at = type.length
  while (at < header.length) {
    const gap = take(separator, header, at)
    if (!gap) return undefined
    at += gap[0].length
    const found = take(parameter, header, at)
    if (!found) continue
    at += found[0].length
    if (found[1]?.toLowerCase() !== 'charset') continue
    if (charset !== undefined) return undefined
    charset = (found[2] ?? found[3] ?? '').toLowerCase()
  }
  return { type: type.toLowerCase(), charset }
}

function take(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}
