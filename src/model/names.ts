const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Names that every object seems to have: a record with such a key is a trap for whoever reads it. */
const inherited: readonly string[] = ['__proto__', 'constructor', 'prototype']

/** Words of the criteria: an attribute of this name could never be asked for. */
const criteriaWords: readonly string[] = ['and', 'or', 'not']

export function modelNameProblem(name: string): string | undefined {
  if (!identifier.test(name)) return 'the name of a model consists of letters, digits and _, and begins with no digit'
  return inherited.includes(name) ? 'no model can have this name' : undefined
}

export function attributeNameProblem(name: string): string | undefined {
  if (!identifier.test(name))
    return 'the name of an attribute consists of letters, digits and _, and begins with no digit'
  if (criteriaWords.includes(name)) return `"${name}" is a word of the criteria`
  return inherited.includes(name) ? 'no attribute can have this name' : undefined
}

/** Tables and columns of a database that we did not make may have almost any name. */
export function databaseNameProblem(name: string): string | undefined {
  if (name.includes('\0') || !name.isWellFormed()) return 'it holds a character that no database takes'
  return inherited.includes(name) ? 'no column or table can have this name' : undefined
}

/** SQLite compares tables and columns without case, and the ancestor its models. */
export const folded = (name: string): string => name.toLowerCase()
