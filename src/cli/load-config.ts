import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AnyConfig } from '../service/config.ts'
import { explainImport } from './explain-import.ts'
import { hookImports } from './import-hooks.ts'
import { LoadError } from './load-error.ts'

export const configNames = ['keelson.config.ts', 'keelson.config.js', 'keelson.config.mjs'] as const

/** The file that was named, or the nearest one of the usual name, here or in a folder above. */
export function findConfig(named: string | undefined, cwd: string): string {
  if (named !== undefined) {
    const file = resolve(cwd, named)
    if (!existsSync(file)) throw new LoadError(`There is no file ${named}`)
    return file
  }
  for (let folder = cwd; ; folder = dirname(folder)) {
    const found = configNames.map((name) => join(folder, name)).find((file) => existsSync(file))
    if (found !== undefined) return found
    if (folder === dirname(folder)) break
  }
  throw new LoadError('There is no keelson.config.ts here, nor in a folder above', {
    advice: 'keelson init writes one, --config names another.',
  })
}

/**
 * Runs the configuration's file and answers what it exports. `files` takes the files it consists of, also when that
 * fails: to a change in one of them one may want to try again. To be called once in a process.
 */
export async function loadConfig(file: string, files: Set<string> = new Set()): Promise<AnyConfig> {
  hookImports(files)
  files.add(file)
  const exported = await importDefault(file)
  if (exported === undefined) {
    throw new LoadError(`${basename(file)} exports no configuration`, {
      advice: 'It must say: export default defineConfig({ models: { … } })',
    })
  }
  return exported
}

async function importDefault(file: string): Promise<AnyConfig | undefined> {
  try {
    const module = (await import(pathToFileURL(file).href)) as { readonly default?: AnyConfig | Promise<AnyConfig> }
    return await module.default
  } catch (error) {
    throw explainImport(error, file)
  }
}
