/** The number of code points, which is how databases count characters: a surrogate pair is one. */
export function countCodePoints(text: string): number {
  let count = text.length
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index)
    if (unit >= 0xd800 && unit <= 0xdbff) {
      count--
      index++
    }
  }
  return count
}

export const characters = (count: number): string => `${count} ${count === 1 ? 'character' : 'characters'}`
