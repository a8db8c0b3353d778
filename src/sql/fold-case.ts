/**
 * The text in one letter case, character by character, so that a pattern matches it as it matches the text. The two small sigmas are one
 * letter, and a capital I with a dot, whose small form is two characters, stays as it is.
 */
export function foldCase(text: string): string {
  const lower = text.includes('İ') ? text.split('İ').map(lowered).join('İ') : lowered(text)
  return lower.includes('ς') ? lower.replaceAll('ς', 'σ') : lower
}

const lowered = (text: string): string => text.toLowerCase()

let variants: Map<string, string> | undefined

/** All characters that are folded to this one, itself included. */
export function variantsOf(folded: string): string {
  variants ??= inverse()
  return folded + (variants.get(folded) ?? '')
}

/** No character above this code point has another letter case. */
const lastLetter = 0x1ffff
const changing = /\p{Changes_When_Lowercased}/gu

function inverse(): Map<string, string> {
  const units = new Uint16Array(2 * lastLetter)
  let length = 0
  for (let code = 0; code <= lastLetter; code++) {
    if (code > 0xffff) units[length++] = 0xd7c0 + (code >> 10)
    units[length++] = code > 0xffff ? 0xdc00 | (code & 0x3ff) : code
  }
  const all = Buffer.from(units.buffer, 0, 2 * length).toString('utf16le')
  const found = new Map<string, string>()
  for (const character of [...(all.match(changing) ?? []), 'ς']) {
    const folded = foldCase(character)
    if (folded !== character) found.set(folded, (found.get(folded) ?? '') + character)
  }
  return found
}
