/** Small alterations of a text: the other letter case, the code point before or after its last. */
export type Change = 'none' | 'flip' | 'before' | 'behind' | 'blank'

export type Mask = 'keep' | 'flip' | 'one' | 'any' | 'escape'

const flip = (text: string): string => (text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase())

const hidden: Readonly<Record<Mask, (character: string) => string>> = {
  keep: (character) => character,
  flip,
  one: () => '_',
  any: () => '%',
  escape: (character) => `\\${character}`,
}
export const hide = (characters: readonly string[], mask: readonly Mask[]): string =>
  characters.map((character, index) => hidden[mask[index % mask.length] as Mask](character)).join('')

export function changed(text: string, change: Change): string {
  if (change === 'none' || text === '') return text
  if (change === 'blank') return `${text} `
  if (change === 'flip') return flip(text)
  const characters = [...text]
  const last = (characters.pop()?.codePointAt(0) as number) + (change === 'before' ? -1 : 1)
  const isCharacter = last > 0 && last <= 0x10ffff && (last < 0xd800 || last > 0xdfff)
  const nearest = last <= 0 ? 1 : last > 0x10ffff ? 0x10ffff : change === 'before' ? 0xd7ff : 0xe000
  return characters.join('') + String.fromCodePoint(isCharacter ? last : nearest)
}

/**
 * An empty pattern is refused. And a declared difference: where SQLite reads a pattern it takes U+FFFE and U+FFFF for
 * U+FFFD, so that a pattern with one of them in it matches what has another in its place.
 */
export const patternOf = (text: string): string => text.replaceAll(/[\ufffd-\uffff]/g, 'a') || '%'
