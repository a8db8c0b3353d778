import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigError } from '../model/config-error.ts'
import { LoadError } from './load-error.ts'

/** Why a configuration could not be run, in words that say where to look. */
export function explainImport(error: unknown, file: string): Error {
  if (error instanceof ConfigError) return error
  if (!(error instanceof Error)) return new LoadError(`${shown(file)} threw ${String(error)}`, { cause: error })
  const { code, url } = error as { readonly code?: string; readonly url?: string }
  if (code === 'ERR_MODULE_NOT_FOUND') return notFound(error, url)
  if (error instanceof SyntaxError) return badSyntax(error, code, file)
  const [frame] = framesOf(error)
  return new LoadError(`${frame ?? shown(file)}: ${error.name}: ${error.message}`, { cause: error })
}

function notFound(error: Error, url: string | undefined): LoadError {
  const importer = / imported from (.+)$/.exec(error.message)?.[1]
  const by = importer === undefined ? 'it is imported' : `${shown(importer)} imports it`
  if (url === undefined) {
    const name = /^Cannot find package '(.+?)'/.exec(error.message)?.[1]
    if (name === undefined) return new LoadError(error.message, { cause: error })
    return new LoadError(`There is no package "${name}", and ${by}`, { advice: `npm install ${name}`, cause: error })
  }
  const path = fileURLToPath(url)
  const whole = ['.ts', '.js', '.mjs', '/index.ts', '/index.js']
    .map((end) => path + end)
    .find((name) => existsSync(name))
  const advice = whole && `Write the whole name of the file: ${shown(whole)}`
  return new LoadError(`There is no file ${shown(path)}, and ${by}`, { ...(advice && { advice }), cause: error })
}

/** Node begins such a stack with the place and the lines of the source. */
const pictured = /^(?:file:\/\/)?(.+?):(\d+)\r?\n([\s\S]+?)\r?\n\r?\n?SyntaxError/

function badSyntax(error: SyntaxError, code: string | undefined, file: string): LoadError {
  const [, path, line, source] = pictured.exec(error.stack ?? '') ?? []
  const place = path === undefined ? shown(file) : `${shown(path)}:${line}`
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
  'Node runs TypeScript by leaving the types out, so nothing may be more than a type: instead of an enum write a plain object or a union of texts.'

/** The places in files that are not Node's own, as `models/pet.ts:3:7`. */
const framesOf = (error: Error): readonly string[] =>
  [...(error.stack ?? '').matchAll(/\(?(file:\/\/[^\s)]+?):(\d+):(\d+)\)?$/gm)].map(
    ([, url, line, column]) => `${shown(fileURLToPath(url as string))}:${line}:${column}`,
  )

/** A path as short as it can be said from here. */
export function shown(path: string): string {
  const short = relative(process.cwd(), path.startsWith('file:') ? fileURLToPath(path) : path)
  return short === '' ? '.' : short.startsWith('..') ? path : short
}
