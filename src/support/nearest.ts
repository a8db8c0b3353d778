/** The most similar known word, or undefined when all differ too much. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const [first] = known
    // Words differ by the difference of their lengths at least, which is known without comparing them.
    .filter((candidate) => Math.abs(word.length - candidate.length) <= mostDifferent(candidate))
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
  return first && first.distance <= mostDifferent(first.candidate) ? first.candidate : undefined
}

const mostDifferent = (candidate: string): number => Math.max(1, Math.floor(candidate.length / 2.5))

/** Damerau–Levenshtein distance: letters changed, added, removed or transposed. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1))
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1)
      row.push(cost)
    }
    beforeLast = last
    last = row
  }
  return last[b.length] ?? 0
}
