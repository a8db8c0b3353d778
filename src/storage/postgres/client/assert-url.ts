import { ConfigError } from '../../../model/config-error.ts'

/** Other programs name a schema so, and `pg` ignores these names. */
const schemaParameters = ['schema', 'currentSchema', 'search_path', 'searchpath']
/** The search path of a role ends with it unless it was altered. Some of these programs name it in every URL. */
const usualSchema = 'public'

/**
 * Throws a ConfigError for a URL that cannot be read, or not as it is meant: with an unescaped `/`, `?` or `#`, the rest of a
 * password becomes a path and what precedes it a host. The message contains nothing of the URL.
 */
export function assertUrl(url: string): void {
  // `pg` accepts a user without a host.
  const parsed = URL.parse(url) ?? URL.parse(url.replace('@/', '@host/'))
  const rest = parsed && [parsed.pathname, parsed.hash, ...parsed.searchParams.keys()]
  if (!rest?.every((part) => !part.includes('@')))
    throw new ConfigError([
      'database: the URL cannot be read as postgres://user:password@host:5432/name. In a user and a password, these characters are written as codes: @ as %40, / as %2F, ? as %3F, # as %23, % as %25',
    ])
  const schema = schemaParameters.find((name) => (parsed?.searchParams.get(name) ?? usualSchema) !== usualSchema)
  if (schema !== undefined)
    throw new ConfigError([
      `database: "${schema}" is not a parameter of the URL, and the schema would be another one. The search path belongs to the role (alter role app set search_path = shop), or to the URL: ?options=-c%20search_path%3Dshop`,
    ])
}
