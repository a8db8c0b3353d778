/** PostgreSQL refuses NUL, and databases replace unpaired surrogates. */
export const unstorable = 'must not contain NUL or an unpaired surrogate'
export const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** The JSON parser of SQLite has this limit. It also stops the recursion over cyclic values of in-process callers. */
export const maxJsonDepth = 1000
