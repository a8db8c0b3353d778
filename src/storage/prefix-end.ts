/**
 * The first text in code point order after all texts with this prefix; undefined when there is none. The range from the
 * prefix to this text can be found by an index.
 */
export function prefixEnd(prefix: string): string | undefined {
  const points = [...prefix].map((char) => char.codePointAt(0) as number)
  for (let point = points.pop(); point !== undefined; point = points.pop()) {
    if (point < 0x10ffff) return String.fromCodePoint(...points, point === 0xd7ff ? 0xe000 : point + 1)
  }
}
