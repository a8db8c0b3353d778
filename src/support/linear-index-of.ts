/** Up to this many comparisons in the worst case, which take a few milliseconds, the native search is used. */
const nativeComparisons = 10_000_000

/**
 * As `text.indexOf(piece, from)`, in time proportional to the sum of both lengths (Knuth, Morris and Pratt). The worst case
 * of the native search is their product: a third of a second for 1000 characters in a megabyte.
 */
export function linearIndexOf(text: string, piece: string, from = 0): number {
  if ((text.length - from) * piece.length <= nativeComparisons) return text.indexOf(piece, from)
  const fallback = fallbacks(piece)
  let matched = 0
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    while (matched > 0 && piece.charCodeAt(matched) !== unit) matched = fallback[matched] as number
    if (piece.charCodeAt(matched) === unit) matched++
    if (matched === piece.length) return at - matched + 1
  }
  return -1
}

/** For each length of a matched prefix: the longest shorter prefix with which it ends. */
function fallbacks(piece: string): Int32Array {
  const fallback = new Int32Array(piece.length + 1)
  let matched = 0
  for (let at = 1; at < piece.length; at++) {
    while (matched > 0 && piece.charCodeAt(matched) !== piece.charCodeAt(at)) matched = fallback[matched] as number
    if (piece.charCodeAt(matched) === piece.charCodeAt(at)) matched++
    fallback[at + 1] = matched
  }
  return fallback
}
