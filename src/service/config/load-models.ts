import { readdir } from 'node:fs/promises'
import { basename, extname, join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ConfigError } from '../../model/config-error.ts'
import type { ModelDefinition, ModelDefinitions } from '../../model/definition.ts'

const scripts = ['.js', '.cjs', '.mjs', '.ts', '.cts', '.mts']
const otherLanguages = ['.coffee', '.litcoffee', '.ls']

/**
 * Loads the models in the files of a folder and its subfolders, CommonJS or ES modules with a default export. A model has
 * the name of its file in lower case: `Pet.js` is `pet`. The folder is a file URL, or a path relative to the working
 * directory. Throws one ConfigError that names every file that cannot be loaded.
 *
 * @example
 * export default defineConfig({
 *   compatibility: 'sails',
 *   models: await loadModels(new URL('./api/models', import.meta.url)),
 * })
 */
export async function loadModels(folder: string | URL): Promise<ModelDefinitions> {
  const root = folder instanceof URL ? fileURLToPath(folder) : resolve(folder)
  const problems: string[] = []
  const models = new Map<string, ModelDefinition>()
  for (const file of await filesIn(root)) {
    const place = relative(process.cwd(), file)
    const name = basename(file, extname(file)).toLowerCase()
    if (otherLanguages.includes(extname(file))) problems.push(`${place}: compile it to JavaScript`)
    if (!scripts.includes(extname(file)) || file.endsWith('.d.ts')) continue
    if (models.has(name)) problems.push(`${place}: another file has the model "${name}"`)
    try {
      models.set(name, await modelIn(file))
    } catch (error) {
      problems.push(`${placeOf(error) ?? place}: ${messageOf(error)}`)
    }
  }
  if (problems.length === 0 && models.size === 0) problems.push(`${root}: the folder has no models`)
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.fromEntries(models)
}

/** In a stable order, without files and folders whose names begin with a dot. */
async function filesIn(root: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(root, { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter(
        (file) =>
          !relative(root, file)
            .split(/[\\/]/)
            .some((part) => part.startsWith('.')),
      )
      .sort()
  } catch (error) {
    throw new ConfigError([`${root}: the folder cannot be read: ${messageOf(error)}`])
  }
}

async function modelIn(file: string): Promise<ModelDefinition> {
  const { default: model } = (await import(pathToFileURL(file).href)) as { readonly default?: unknown }
  if (typeof model === 'object' && model !== null && !Array.isArray(model)) return model
  throw new Error('it exports no model: expected `module.exports = { attributes: … }` or `export default { … }`')
}

/** Where Node tells it, the stack of a SyntaxError begins with the file, which may be one that the model imports, and the line. */
function placeOf(error: unknown): string | undefined {
  if (!(error instanceof SyntaxError)) return undefined
  const [, path, line] = /^(?:file:\/\/)?(.+?):(\d+)\r?\n/.exec(error.stack ?? '') ?? []
  return path && `${relative(process.cwd(), decodeURI(path))}:${line}`
}

function messageOf(error: unknown): string {
  const message = (error as Error).message.split('\n', 1)[0] as string
  const [, name] = /^(\w+) is not defined$/.exec(message) ?? []
  return name === undefined ? message : `${message}; the globals of Sails do not exist while models are loaded`
}
