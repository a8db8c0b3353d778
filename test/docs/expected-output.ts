/**
 * Whether an output matches the output that a page gives. White space is ignored, so that a page may format JSON; a
 * timestamp matches every timestamp; `…` and `...` match any text.
 */
export function matchesExpected(actual: string, expected: string): boolean {
  const pieces = plain(expected).split(/…|\.\.\./)
  const text = plain(actual)
  const [first, ...rest] = pieces as [string, ...string[]]
  if (rest.length === 0) return text === first
  const last = rest.pop() as string
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  let from = first.length
  for (const piece of rest) {
    const found = text.indexOf(piece, from)
    if (found === -1) return false
    from = found + piece.length
  }
  return from <= text.length - last.length
}

const plain = (text: string): string =>
  text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '«time»').replace(/\s+/g, '')
