/**
 * The first text, by code points, that comes after every text with this prefix. Undefined when there is none. A range
 * up to here is what a database's index can find.
 */
export function prefixEnd(prefix: string): string | undefined {
  const points = [...prefix].map((char) => char.codePointAt(0) as number)
  for (let point = points.pop(); point !== undefined; point = points.pop()) {
    if (point < 0x10ffff) return String.fromCodePoint(...points, point === 0xd7ff ? 0xe000 : point + 1)
  }
}
