import { ConfigError } from '../../../model/config-error.ts'

/**
 * Throws a ConfigError for a URL that cannot be read, or not as it is meant: with an unescaped `/`, `?` or `#`, the rest of a
 * password becomes a path and what precedes it a host. The message contains nothing of the URL.
 */
export function assertUrl(url: string): void {
  // `pg` accepts a user without a host.
  const parsed = URL.parse(url) ?? URL.parse(url.replace('@/', '@host/'))
  const rest = parsed && [parsed.pathname, parsed.hash, ...parsed.searchParams.keys()]
  if (rest?.every((part) => !part.includes('@'))) return
  throw new ConfigError([
    'database: the URL cannot be read as postgres://user:password@host:5432/name. In a user and a password, these characters are written as codes: @ as %40, / as %2F, ? as %3F, # as %23, % as %25',
  ])
}
