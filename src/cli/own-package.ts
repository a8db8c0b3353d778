import { existsSync, readFileSync } from 'node:fs'

/** The folder of this package, in a repository and where it is installed. */
const root = new URL('../../', import.meta.url)

/** Running from the sources; a published package has only what was made of them. */
const isSource = import.meta.url.endsWith('.ts')

export const commandPath = new URL('bin/keelson.js', root)

export function version(): string {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string }
  return version
}

/**
 * The file behind `keelson` or `keelson/…`; undefined for every other name. A configuration anywhere on the disk gets
 * the instance that runs the command, and needs none of its own.
 */
export function entryOf(specifier: string): string | undefined {
  const [, subpath] = /^keelson(?:\/(.+))?$/.exec(specifier) ?? [undefined, undefined]
  if (subpath === undefined && specifier !== 'keelson') return undefined
  if (subpath === 'package.json') return new URL(subpath, root).href
  const entry = new URL(isSource ? `src/${subpath ?? 'index'}.ts` : `dist/${subpath ?? 'index'}.js`, root)
  return existsSync(entry) ? entry.href : undefined
}

/** Whether a file belongs to this package and not to whoever uses it. */
export const isOurs = (url: string): boolean =>
  url.startsWith(new URL('src/', root).href) || url.startsWith(new URL('dist/', root).href)
