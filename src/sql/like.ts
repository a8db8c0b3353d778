/** A LIKE pattern in pieces: `%` is any text, `_` one character, a backslash makes the next character an ordinary one. */
export type LikePiece =
  | { readonly kind: 'any' }
  | { readonly kind: 'one' }
  | { readonly kind: 'text'; readonly text: string }

export function parseLike(pattern: string): readonly LikePiece[] {
  const pieces: LikePiece[] = []
  let text = ''
  const flush = () => {
    if (text !== '') pieces.push({ kind: 'text', text })
    text = ''
  }
  for (let index = 0; index < pattern.length; index++) {
    const char = pattern[index] as string
    if (char === '%' || char === '_') {
      flush()
      if (char === '_') pieces.push({ kind: 'one' })
      else if (pieces.at(-1)?.kind !== 'any') pieces.push({ kind: 'any' })
    } else if (char === '\\' && index + 1 < pattern.length) {
      index++
      text += pattern[index]
    } else text += char
  }
  flush()
  return pieces
}

/** The text with the characters that LIKE gives a meaning made ordinary. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/** Whether the text is what the pattern says. Linear but for the wildcards: it never goes back beyond the last `%`. */
export function matchesLike(text: string, pattern: string): boolean {
  const want: (string | undefined | null)[] = []
  for (const piece of parseLike(pattern)) {
    if (piece.kind === 'any') want.push(null)
    else if (piece.kind === 'one') want.push(undefined)
    else want.push(...piece.text)
  }
  const have = [...text]
  let at = 0
  let next = 0
  let lastAny = -1
  let resume = 0
  while (at < have.length) {
    if (next < want.length && want[next] !== null && (want[next] === undefined || want[next] === have[at])) {
      at++
      next++
    } else if (next < want.length && want[next] === null) {
      lastAny = next++
      resume = at
    } else if (lastAny >= 0) {
      next = lastAny + 1
      at = ++resume
    } else return false
  }
  while (want[next] === null && next < want.length) next++
  return next === want.length
}
