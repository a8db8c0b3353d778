/** Literals in parentheses and with casts, as `'new'::character varying` and `(0)::numeric`. */
const literal =
  /^\(*(?:'((?:[^']|'')*)'|"((?:[^"]|"")*)"|([+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)|(true|false))\)*(?:::[\w\s."()[\],]+)*$/i

/** The text of a default that is a literal; undefined for another expression. */
export function literalText(expression: string): string | undefined {
  const [, text, quoted, number, truth] = literal.exec(expression) ?? []
  return text?.replaceAll("''", "'") ?? quoted?.replaceAll('""', '"') ?? number ?? truth?.toLowerCase()
}

/** The current time without a distance to it. */
const currentTimes = [
  /^(?:current_timestamp|localtimestamp)(?:\(\d\))?$/,
  /^current_date$/,
  /^(?:now|(?:clock|statement|transaction)_timestamp)\(\)$/,
  /^\(?timezone\('utc'(?:::text)?, now\(\)\)\)?$/,
  /^\(now\(\) at time zone 'utc'(?:::text)?\)$/,
  /^\('now'::text\)::(?:date|timestamp)\b[^+-]*$/,
  /^(?:date|datetime)\('now'\)$/,
  /^strftime\('%y-%m-%d[^']*', ?'now'\)$/,
]

export function isCurrentTime(expression: string | undefined): boolean {
  const text = expression?.toLowerCase().replace(/(?<=\))::(?:date|timestamp)[\w ()]*$/, '')
  return text !== undefined && currentTimes.some((form) => form.test(text))
}

export const isNewUuid = (expression: string): boolean =>
  /^(?:\w+\.)?(?:gen_random_uuid|uuid_generate_v\d|uuidv[47])\(\)$/.test(expression)
