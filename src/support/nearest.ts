/** The most similar known word, or undefined when all differ too much. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const [first] = known
    // Words differ by the difference of their lengths at least, which is known without comparing them.
    .filter((candidate) => Math.abs(word.length - candidate.length) <= mostDifferent(candidate))
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
  return first && first.distance <= mostDifferent(first.candidate) ? first.candidate : undefined
}

/** What a message about an unknown word ends with: the most similar known one, or nothing. */
export function orNearest(word: string, known: Iterable<string>): string {
  const near = nearest(word, [...known])
  return near === undefined ? '' : `; did you mean "${near}"?`
}

const mostDifferent = (candidate: string): number => Math.max(1, Math.floor(candidate.length / 2.5))

/** Damerau–Levenshtein distance: letters changed, added, removed or transposed. */
function distance(a: string, b: string): number {
  let beforeLast = new Uint16Array(b.length + 1)
  let last = new Uint16Array(b.length + 1)
  let row = new Uint16Array(b.length + 1)
  for (let j = 0; j <= b.length; j++) last[j] = j
  for (let i = 1; i <= a.length; i++) {
    const letter = a.charCodeAt(i - 1)
    row[0] = i
    for (let j = 1; j <= b.length; j++) {
      const other = b.charCodeAt(j - 1)
      let cost = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (letter === other ? 0 : 1))
      const isTransposed = i > 1 && j > 1 && letter === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === other
      if (isTransposed) cost = Math.min(cost, at(beforeLast, j - 2) + 1)
      row[j] = cost
    }
    ;[beforeLast, last, row] = [last, row, beforeLast]
  }
  return at(last, b.length)
}

const at = (row: Uint16Array, index: number): number => row[index] as number
