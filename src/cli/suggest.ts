import { nearest } from '../support/nearest.ts'

/** "Did you mean …?" with the candidate that is most similar, formatted by `format`; `otherwise` if none is similar. */
export function didYouMean(
  word: string,
  candidates: readonly string[],
  format: (word: string) => string,
  otherwise?: string,
): string | undefined {
  const near = nearest(word, candidates)
  return near === undefined ? otherwise : `Did you mean ${format(near)}?`
}
