import { existsSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AnyConfig } from '../service/config/config.ts'
import { describeImportError, displayPath, manifestIn } from './import-error.ts'
import { registerImportHooks } from './import-hooks.ts'
import { LoadError } from './load-error.ts'

export const configNames = [
  'keelson.config.ts',
  'keelson.config.js',
  'keelson.config.mjs',
  'keelson.config.cjs',
  'keelson.config.mts',
  'keelson.config.cts',
] as const

/** The given file, or the nearest file with one of the default names in `cwd` or a parent folder. */
export function findConfig(named: string | undefined, cwd: string): string {
  if (named !== undefined) {
    const file = resolve(cwd, named)
    const found = statSync(file, { throwIfNoEntry: false })
    if (!found) throw new LoadError(`File not found: ${named}`)
    if (found.isDirectory()) throw new LoadError(`${named} is a folder; --config names a file`)
    if (extname(file) === '.json')
      throw new LoadError(`${named} is JSON, and a configuration is a module`, {
        advice: 'Write the same in keelson.config.js, after: export default',
      })
    return file
  }
  for (let folder = cwd; ; folder = dirname(folder)) {
    const found = configNames.map((name) => join(folder, name)).find((file) => existsSync(file))
    if (found !== undefined) return found
    if (folder === dirname(folder)) break
  }
  throw new LoadError('No keelson.config.ts found in this folder or a parent folder', {
    advice: 'keelson init writes one; --config names another file.',
  })
}

/**
 * Imports the configuration file and returns its default export. The imported files are added to `files`, also when the import
 * fails, as is an invalid `package.json` that makes it fail, so that the caller can watch them. May be called once per process,
 * because modules are loaded once.
 */
export async function loadConfig(file: string, files: Set<string> = new Set()): Promise<AnyConfig> {
  const modules = new Set<string>()
  registerImportHooks(files, modules)
  files.add(file)
  const exported = await importDefault(file, files, modules)
  if (exported === undefined) {
    throw new LoadError(`${basename(file)} has no default export`, {
      advice: 'Expected: export default defineConfig({ models: { … } })',
    })
  }
  return exported
}

async function importDefault(
  file: string,
  files: Set<string>,
  modules: ReadonlySet<string>,
): Promise<AnyConfig | undefined> {
  // Without other work, Node would end the process with success, although an `await` of the configuration has not ended.
  const idle = Promise.withResolvers<never>()
  const onIdle = () => idle.reject(new LoadError(`${displayPath(file)} waits for a promise that nothing resolves`))
  process.once('beforeExit', onIdle)
  try {
    return await Promise.race([defaultOf(file), idle.promise])
  } catch (error) {
    if (error instanceof LoadError) throw error
    const manifest = manifestIn(error)
    if (manifest !== undefined) files.add(manifest)
    throw describeImportError(error, file, modules)
  } finally {
    process.off('beforeExit', onIdle)
  }
}

async function defaultOf(file: string): Promise<AnyConfig | undefined> {
  const module = (await import(pathToFileURL(file).href)) as { readonly default?: AnyConfig | Promise<AnyConfig> }
  return module.default
}
