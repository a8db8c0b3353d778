import { existsSync, readFileSync } from 'node:fs'
import { packageFolder, programUrl } from '../support/package-files.ts'

export const commandPath = new URL('bin/keelson.js', packageFolder)

export function version(): string {
  const { version } = JSON.parse(readFileSync(new URL('package.json', packageFolder), 'utf8')) as { version: string }
  return version
}

/**
 * The URL of the file that `keelson` or `keelson/…` stands for; undefined for other specifiers. A configuration file
 * outside of any package thereby uses the instance that runs the command.
 */
export function entryOf(specifier: string): string | undefined {
  const [, subpath] = /^keelson(?:\/(.+))?$/.exec(specifier) ?? [undefined, undefined]
  if (subpath === undefined && specifier !== 'keelson') return undefined
  if (subpath === 'package.json') return new URL(subpath, packageFolder).href
  const entry = programUrl(subpath ?? 'index')
  return existsSync(entry) ? entry.href : undefined
}

/** Whether a file belongs to this package and not to the application. */
export const isOwnFile = (url: string): boolean =>
  url.startsWith(new URL('src/', packageFolder).href) || url.startsWith(new URL('dist/', packageFolder).href)
