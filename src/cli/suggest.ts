import { nearest } from '../support/nearest.ts'

/** "Did you mean …?" with the most similar known word, formatted by `format`; `otherwise` when no word is similar. */
export function didYouMean(
  word: string,
  known: readonly string[],
  format: (word: string) => string,
  otherwise?: string,
): string | undefined {
  const near = nearest(word, known)
  return near === undefined ? otherwise : `Did you mean ${format(near)}?`
}
