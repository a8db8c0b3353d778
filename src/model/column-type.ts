/** A name, its size, and the words that belong to it: `varchar(80)`, `double precision`, `timestamp(3) with time zone`, `text[]`. */
const plain =
  /^([a-z_][a-z0-9_]*(?: precision| varying)?(?: ?\( ?\d+(?: ?, ?\d+)? ?\))?(?: with(?:out)? time zone)?(?:\[\])?)(?: (.*))?$/i

/** What may follow a type in the declarations of some databases: `CHARACTER SET utf8mb4`, `UNSIGNED NOT NULL`, `DEFAULT 'a'`. */
const options = /^[a-z0-9_'" =.-]*$/i

/**
 * The SQL type in a `columnType`, without options such as `CHARACTER SET utf8mb4`, so that nothing else becomes part of a
 * schema statement. Undefined if the text is not a plain type.
 */
export function plainColumnType(columnType: string): string | undefined {
  const [, type, rest = ''] = plain.exec(columnType.trim().replace(/\s+/g, ' ')) ?? []
  return options.test(rest) && !rest.includes('--') ? type : undefined
}

/** The problem of a `columnType`, if it has one. */
export function columnTypeProblem(columnType: string | undefined): string | undefined {
  if (columnType === undefined || plainColumnType(columnType) !== undefined) return undefined
  return `\`columnType\` ${JSON.stringify(columnType)} is not a plain SQL type, such as varchar(80)`
}
