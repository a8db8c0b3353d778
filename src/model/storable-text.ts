/** PostgreSQL refuses NUL, and every database turns a lone surrogate into another character. */
export const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
