const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Names that objects inherit: reading them from a record without such a key would not give undefined. */
const inherited: readonly string[] = ['__proto__', 'constructor', 'prototype']

/** Operators of `where`: an attribute of this name could not be filtered. */
const reservedWords: readonly string[] = ['and', 'or', 'not']

export function modelNameProblem(name: string): string | undefined {
  if (!identifier.test(name))
    return 'the name of a model consists of letters, digits and _ and does not start with a digit'
  return inherited.includes(name) ? 'is not allowed as the name of a model' : undefined
}

export function attributeNameProblem(name: string): string | undefined {
  if (!identifier.test(name))
    return 'the name of an attribute consists of letters, digits and _ and does not start with a digit'
  if (reservedWords.includes(name)) return `"${name}" is an operator of \`where\``
  return inherited.includes(name) ? 'is not allowed as the name of an attribute' : undefined
}

/** Tables and columns of existing databases may have almost any name. */
export function databaseNameProblem(name: string): string | undefined {
  if (name === '') return 'must not be empty'
  if (name.includes('\0') || !name.isWellFormed()) return 'contains a character that databases do not support'
  return inherited.includes(name) ? 'is not allowed as the name of a column or table' : undefined
}

/** Tables of the service itself, as the change log, and of SQLite. */
const reservedTable = /^(?:keelson|sqlite)_/i

export function tableNameProblem(name: string): string | undefined {
  const [prefix] = reservedTable.exec(name) ?? []
  return prefix === undefined ? databaseNameProblem(name) : `names that begin with ${prefix} are reserved`
}

/** SQLite compares the names of tables and columns without case, and Sails the names of models. */
export const folded = (name: string): string => name.toLowerCase()
