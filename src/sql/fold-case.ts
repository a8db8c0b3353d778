/**
 * The text in one letter case, character by character, so that a pattern matches it as it matches the text. The two small sigmas are one
 * letter, and a capital I with a dot, whose small form is two characters, stays as it is.
 */
export const foldCase = (text: string): string =>
  text
    .split('İ')
    .map((part) => part.toLowerCase())
    .join('İ')
    .replaceAll('ς', 'σ')

let others: Map<string, string> | undefined

/** All characters that are folded to this one, itself included. */
export function variantsOf(folded: string): string {
  others ??= inverse()
  return folded + (others.get(folded) ?? '')
}

/** There are no letters with two cases beyond. */
const lastLetter = 0x1ffff

function inverse(): Map<string, string> {
  const found = new Map<string, string>()
  for (let code = 0; code <= lastLetter; code++) {
    const character = String.fromCodePoint(code)
    // Almost all characters are of no case, and folding takes ten times as long.
    if (character.toLowerCase() === character && character !== 'ς') continue
    const folded = foldCase(character)
    if (folded !== character) found.set(folded, (found.get(folded) ?? '') + character)
  }
  return found
}
