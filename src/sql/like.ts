/** A LIKE pattern in pieces: `%` is any text, `_` one character, a backslash escapes the next character. */
export type LikePiece =
  | { readonly kind: 'any' }
  | { readonly kind: 'one' }
  | { readonly kind: 'text'; readonly text: string }

const [percent, underscore, backslash] = [0x25, 0x5f, 0x5c]

export function parseLike(pattern: string): readonly LikePiece[] {
  const pieces: LikePiece[] = []
  let text = ''
  let from = 0
  const endText = (at: number): void => {
    text += pattern.slice(from, at)
    if (text !== '') pieces.push({ kind: 'text', text })
    text = ''
    from = at + 1
  }
  for (let at = 0; at < pattern.length; at++) {
    const unit = pattern.charCodeAt(at)
    if (unit === percent) {
      endText(at)
      if (pieces.at(-1)?.kind !== 'any') pieces.push({ kind: 'any' })
    } else if (unit === underscore) {
      endText(at)
      pieces.push({ kind: 'one' })
    } else if (unit === backslash && at + 1 < pattern.length) {
      text += pattern.slice(from, at)
      from = ++at
    }
  }
  endText(pattern.length)
  return pieces
}
