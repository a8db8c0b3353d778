import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { entryOf, isOurs } from './own-package.ts'

/**
 * From now on `import … from 'keelson'` means this package, wherever the importing file stands. Files that are not ours
 * are entered into `files` as they are imported, also those that turn out not to be there.
 */
export function hookImports(files: Set<string>): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const entry = entryOf(specifier)
      if (entry !== undefined) return { url: entry, shortCircuit: true }
      if (/^\.{0,2}\//.test(specifier)) note(files, new URL(specifier, context.parentURL).href)
      const resolved = nextResolve(specifier, context)
      note(files, resolved.url)
      return resolved
    },
  })
}

function note(files: Set<string>, url: string): void {
  if (url.startsWith('file:') && !isOurs(url) && !url.includes('/node_modules/')) files.add(fileURLToPath(url))
}
