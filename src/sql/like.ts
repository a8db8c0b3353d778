/** A LIKE pattern in pieces: `%` is any text, `_` one character, a backslash escapes the next character. */
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

/** The text with the special characters of LIKE escaped. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&')
