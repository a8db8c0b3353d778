import { existsSync } from 'node:fs'
import { dirname, extname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ConfigError } from '../model/config-error.ts'
import { findSyntaxError } from './find-syntax-error.ts'
import { LoadError } from './load-error.ts'
import { isOwnFile } from './own-package.ts'
import { didYouMean } from './suggest.ts'

/**
 * Translates an error of importing the configuration: its message names the file and, where known, the line. `modules` are the
 * ES modules that were loaded for it.
 */
export function describeImportError(error: unknown, file: string, modules: ReadonlySet<string>): Error {
  if (error instanceof ConfigError) return error
  if (!(error instanceof Error)) return new LoadError(`${displayPath(file)} threw ${String(error)}`, { cause: error })
  const { code, url } = error as { readonly code?: string; readonly url?: string }
  if (code === 'ERR_MODULE_NOT_FOUND') return notFound(error, url)
  if (code === 'ERR_UNSUPPORTED_DIR_IMPORT') return folderImport(error)
  if (code === 'ERR_INVALID_PACKAGE_CONFIG') return badManifest(error)
  if (code === 'ERR_IMPORT_ATTRIBUTE_MISSING') return missingAttribute(error)
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION') return unknownExtension(error)
  if (error instanceof SyntaxError) return badSyntax(error, code, file, modules)
  const [frame] = framesOf(error)
  const [, name] = /^Cannot access '(.+)' before initialization$/.exec(error.message) ?? []
  return new LoadError(`${frame ?? displayPath(file)}: ${error.name}: ${error.message}`, {
    ...(name !== undefined && {
      advice: `"${name}" is used before it has a value. Where files import each other, name a model as text instead: { model: 'owner' } needs no import.`,
    }),
    cause: error,
  })
}

/** The error names the imported file, but not the importing one: its stack ends at Keelson's import of the configuration. */
function missingAttribute(error: Error): LoadError {
  const [, url, type] = /^Module "(.+)" needs an import attribute of "type: (.+)"/.exec(error.message) ?? []
  if (url === undefined) return new LoadError(error.message, { cause: error })
  return new LoadError(`${displayPath(url)}: Node imports this file with an attribute only`, {
    advice: `import … from '…' with { type: '${type}' }`,
    cause: error,
  })
}

function unknownExtension(error: Error): LoadError {
  const [, path] = / for (.+)$/.exec(error.message) ?? []
  if (path === undefined) return new LoadError(error.message, { cause: error })
  return new LoadError(`${displayPath(path)}: Node cannot import files that end with ${extname(path)}`, {
    advice: 'A file of TypeScript that it can import ends with .ts, .mts or .cts, and contains no JSX.',
    cause: error,
  })
}

function notFound(error: Error, url: string | undefined): LoadError {
  const { importer, by } = importerOf(error)
  if (url === undefined) {
    const name = /^Cannot find package '(.+?)'/.exec(error.message)?.[1]
    if (name === undefined) return new LoadError(error.message, { cause: error })
    return new LoadError(`Package not found: "${name}"${by}`, { advice: adviceFor(name, importer), cause: error })
  }
  const path = fileURLToPath(url)
  const source = path.replace(/\.([cm]?)js$/, '.$1ts')
  const advice = completeNameAdvice([source, ...['.ts', '.js', '.mjs'].map((end) => path + end)])
  return new LoadError(`File not found: ${displayPath(path)}${by}`, { ...(advice && { advice }), cause: error })
}

function folderImport(error: Error): LoadError {
  const { by } = importerOf(error)
  const [, path] = /^Directory import '(.+?)' is not supported/.exec(error.message) ?? []
  if (path === undefined) return new LoadError(error.message, { cause: error })
  const advice = completeNameAdvice(['/index.ts', '/index.js', '/index.mjs'].map((end) => path + end))
  return new LoadError(`${displayPath(path)} is a folder${by}`, {
    advice: advice ?? 'Imports name files; `loadModels` reads all models of a folder.',
    cause: error,
  })
}

/** The file that contains the failed import. `by` is empty where Keelson itself imports the configuration. */
function importerOf(error: Error): { readonly importer: string | undefined; readonly by: string } {
  const importer = / imported from (.+)$/.exec(error.message)?.[1]
  const isKnown = importer !== undefined && !isOwnFile(pathToFileURL(importer).href)
  return { importer, by: isKnown ? `, imported by ${displayPath(importer)}` : '' }
}

/** Advice that names the first of these files that exists. */
function completeNameAdvice(paths: readonly string[]): string | undefined {
  const found = paths.find((path) => existsSync(path))
  return found && `Imports need the complete file name: ${displayPath(found)}`
}

/**
 * What looks like the name of a package may be meant as a path, which compilers and bundlers resolve by their own rules. A misspelt
 * name of this package is not advised for installation: the registry may have a package of that name.
 */
function adviceFor(name: string, importer: string | undefined): string | undefined {
  if (/^[@~]\//.test(name))
    return "Node does not read `paths` of tsconfig.json: import the file by its path, such as './models/pet.ts'."
  const isBeside = importer !== undefined && existsSync(join(dirname(importer), name))
  return isBeside
    ? `A path begins with "./", and ends with the ending of the file: './${name}…'`
    : didYouMean(name, ['keelson'], (near) => `"${near}"`, `npm install ${name}`)
}

/** The `package.json` that Node could not read. */
export const manifestIn = (error: unknown): string | undefined =>
  error instanceof Error ? /^Invalid package config (.+?package\.json)/.exec(error.message)?.[1] : undefined

/** Node reads the `package.json` beside a file before the file. The stack ends at Keelson's import of the configuration. */
function badManifest(error: Error): LoadError {
  const path = manifestIn(error)
  return new LoadError(path === undefined ? error.message : `${displayPath(path)}: not valid JSON`, { cause: error })
}

/** The stack of a SyntaxError begins with the location and the lines of the source, unless Node does not know them. */
const sourceExcerpt = /^(?:file:\/\/)?(.+?):(\d+)\r?\n([\s\S]+?)\r?\n\r?\n?SyntaxError/

function badSyntax(
  error: SyntaxError,
  code: string | undefined,
  file: string,
  modules: ReadonlySet<string>,
): LoadError {
  const [, path, line, source] =
    sourceExcerpt.exec(error.stack ?? '') ?? sourceExcerpt.exec(findSyntaxError([...modules])) ?? []
  const place = path === undefined ? displayPath(file) : `${displayPath(path)}:${line}`
  const isUnsupported = code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'
  return new LoadError(
    `${place}: ${isUnsupported ? `${error.message.replace(/ in strip-only mode$/, '')} here` : error.message}`,
    {
      details: (source ?? '').split(/\r?\n/).filter((text) => text.trim() !== ''),
      ...(isUnsupported && { advice: `${unstrippable}${replacementOf(error.message)}` }),
      cause: error,
    },
  )
}

const unstrippable = 'Node runs TypeScript by removing the types, so syntax that generates code is not supported.'

function replacementOf(message: string): string {
  if (message.includes('enum')) return ' Replace an enum with a plain object or a union of strings.'
  if (message.includes('parameter property'))
    return ' Declare the property in the class, and assign it in the constructor.'
  return ''
}

/** The locations of a stack in files of the application, as `models/pet.ts:3:7`. */
export const framesOf = (error: Error): readonly string[] =>
  [...(error.stack ?? '').matchAll(/\(?(file:\/\/[^\s)]+?):(\d+):(\d+)\)?$/gm)]
    .filter(([, url]) => !isOwnFile(url as string))
    .map(([, url, line, column]) => `${displayPath(fileURLToPath(url as string))}:${line}:${column}`)

/** A path relative to the current folder when it is inside of it, otherwise absolute. */
export function displayPath(path: string): string {
  const short = relative(process.cwd(), path.startsWith('file:') ? fileURLToPath(path) : path)
  return short === '' ? '.' : short.startsWith('..') ? path : short
}
