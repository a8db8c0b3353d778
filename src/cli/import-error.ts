import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigError } from '../model/config-error.ts'
import { LoadError } from './load-error.ts'

/** Translates an error of importing the configuration: its message names the file and, where known, the line. */
export function describeImportError(error: unknown, file: string): Error {
  if (error instanceof ConfigError) return error
  if (!(error instanceof Error)) return new LoadError(`${displayPath(file)} threw ${String(error)}`, { cause: error })
  const { code, url } = error as { readonly code?: string; readonly url?: string }
  if (code === 'ERR_MODULE_NOT_FOUND') return notFound(error, url)
  if (code === 'ERR_INVALID_PACKAGE_CONFIG') return badManifest(error)
  if (error instanceof SyntaxError) return badSyntax(error, code, file)
  const [frame] = framesOf(error)
  return new LoadError(`${frame ?? displayPath(file)}: ${error.name}: ${error.message}`, { cause: error })
}

function notFound(error: Error, url: string | undefined): LoadError {
  const importer = / imported from (.+)$/.exec(error.message)?.[1]
  const by = importer === undefined ? '' : `, imported by ${displayPath(importer)}`
  if (url === undefined) {
    const name = /^Cannot find package '(.+?)'/.exec(error.message)?.[1]
    if (name === undefined) return new LoadError(error.message, { cause: error })
    return new LoadError(`Package not found: "${name}"${by}`, { advice: `npm install ${name}`, cause: error })
  }
  const path = fileURLToPath(url)
  const source = path.replace(/\.([cm]?)js$/, '.$1ts')
  const whole = [source, ...['.ts', '.js', '.mjs', '/index.ts', '/index.js'].map((end) => path + end)].find((name) =>
    existsSync(name),
  )
  const advice = whole && `Imports need the complete file name: ${displayPath(whole)}`
  return new LoadError(`File not found: ${displayPath(path)}${by}`, { ...(advice && { advice }), cause: error })
}

/** The `package.json` that Node could not read. */
export const manifestIn = (error: unknown): string | undefined =>
  error instanceof Error ? /^Invalid package config (.+?package\.json)/.exec(error.message)?.[1] : undefined

/** Node reads the `package.json` beside a file before the file, and names Keelson's import of it as the place. */
function badManifest(error: Error): LoadError {
  const path = manifestIn(error)
  return new LoadError(path === undefined ? error.message : `${displayPath(path)}: not valid JSON`, { cause: error })
}

/** The stack of a SyntaxError in Node begins with the location and the lines of the source. */
const sourceExcerpt = /^(?:file:\/\/)?(.+?):(\d+)\r?\n([\s\S]+?)\r?\n\r?\n?SyntaxError/

function badSyntax(error: SyntaxError, code: string | undefined, file: string): LoadError {
  const [, path, line, source] = sourceExcerpt.exec(error.stack ?? '') ?? []
  const place = path === undefined ? displayPath(file) : `${displayPath(path)}:${line}`
  const isMore = code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'
  return new LoadError(
    `${place}: ${isMore ? `${error.message.replace(/ in strip-only mode$/, '')} here` : error.message}`,
    {
      details: (source ?? '').split(/\r?\n/).filter((text) => text.trim() !== ''),
      ...(isMore && { advice: unstrippable }),
      cause: error,
    },
  )
}

const unstrippable =
  'Node runs TypeScript by removing the types, so syntax that generates code is not supported. Replace an enum with a plain object or a union of strings.'

/** The locations of a stack outside of Node's own modules, as `models/pet.ts:3:7`. */
const framesOf = (error: Error): readonly string[] =>
  [...(error.stack ?? '').matchAll(/\(?(file:\/\/[^\s)]+?):(\d+):(\d+)\)?$/gm)].map(
    ([, url, line, column]) => `${displayPath(fileURLToPath(url as string))}:${line}:${column}`,
  )

/** A path relative to the current folder when it is inside of it, otherwise absolute. */
export function displayPath(path: string): string {
  const short = relative(process.cwd(), path.startsWith('file:') ? fileURLToPath(path) : path)
  return short === '' ? '.' : short.startsWith('..') ? path : short
}
