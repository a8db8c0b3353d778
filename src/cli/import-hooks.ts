import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { entryOf, isOwnFile } from './own-package.ts'

/**
 * Resolves `import … from 'keelson'` to this package, wherever the importing file is, and loads application files that
 * contain `import` or `export` as ES modules. Every imported file that does not belong to this package is added to
 * `files`, also when it does not exist, and every ES module of the application that is loaded to `modules`.
 */
export function registerImportHooks(files: Set<string>, modules: Set<string> = new Set()): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const entry = entryOf(specifier)
      if (entry !== undefined) return { url: entry, shortCircuit: true }
      if (/^\.{0,2}\//.test(specifier)) addFile(files, new URL(specifier, context.parentURL).href)
      const resolved = nextResolve(specifier, context)
      addFile(files, resolved.url)
      return resolved
    },
    load(url, context, nextLoad) {
      if (!isApplicationFile(url)) return nextLoad(url, context)
      const format = moduleFormats[context.format as keyof typeof moduleFormats]
      const isModule = format !== undefined && hasModuleSyntax(url)
      const loaded = nextLoad(url, isModule ? { ...context, format } : context)
      if (loaded.format === 'module' || loaded.format === 'module-typescript') modules.add(fileURLToPath(url))
      return loaded
    },
  })
}

/**
 * `npm init` writes `"type": "commonjs"`, and Node then refuses `import` in .ts and .js files. The syntax of a file is
 * unambiguous, so it decides.
 */
const moduleFormats = { commonjs: 'module', 'commonjs-typescript': 'module-typescript' } as const

const moduleSyntax = /^\s*(?:import\b(?!\s*\()|export\b)/m
const hasModuleSyntax = (url: string): boolean => moduleSyntax.test(readFileSync(fileURLToPath(url), 'utf8'))

const isApplicationFile = (url: string): boolean =>
  url.startsWith('file:') && !isOwnFile(url) && !url.includes('/node_modules/')

function addFile(files: Set<string>, url: string): void {
  if (isApplicationFile(url)) files.add(fileURLToPath(url))
}
