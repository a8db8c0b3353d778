import type { Attribute } from './model.ts'

const compared = new WeakSet<Attribute>()

/** Called when the database is opened, before any request. */
export const setComparedByDatabase = (attribute: Attribute): void => {
  compared.add(attribute)
}

/**
 * Whether texts that are not the same may be equal in the column, as in one that ignores letter case: the meaning of a condition
 * in memory is another one, so that the database is asked.
 */
export const isComparedByDatabase = (attribute: Attribute): boolean => compared.has(attribute)
