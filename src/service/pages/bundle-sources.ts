import { readFileSync } from 'node:fs'
import module from 'node:module'

const importPattern = /^import\s*\{([^}]*)\}\s*from '(\.[^']+)'\n?/gm
const passedOnPattern = /^export\s*\{([^}]*)\}\s*from '(\.[^']+)'\n?/gm
const declaredPattern = /^export (?=(?:async )?(?:function\*?|class|const|let) (\w+))/gm

/**
 * A TypeScript module and its imports as one ES module, without a bundler: the types are removed, and each module becomes
 * a function that returns its exports. It reads the sources of this package only, which use named imports and exports.
 */
export function bundleSources(entry: URL): string {
  const modules = new Map<string, string>()
  const exported = addModule(entry, modules)
  const own = `m${[...modules.keys()].indexOf(entry.href)}`
  return `${[...modules.values()].join('\n')}\nexport const { ${exported.join(', ')} } = ${own}\n`
}

/** Adds a module after those that it imports, and returns the names of its exports. */
function addModule(url: URL, modules: Map<string, string>): readonly string[] {
  // Not imported by its name, so that an older Node loads the package and prints which version is needed.
  const code = module.stripTypeScriptTypes(readFileSync(url, 'utf8'))
  const exported: string[] = []
  const from = (path: string): string => {
    const imported = new URL(path, url)
    if (!modules.has(imported.href)) addModule(imported, modules)
    return `m${[...modules.keys()].indexOf(imported.href)}`
  }
  const take = (names: string, path: string): string => `const { ${names.replaceAll(' as ', ': ')} } = ${from(path)}\n`
  const body = code
    .replace(importPattern, (_, names: string, path: string) => (names.trim() === '' ? '' : take(names, path)))
    .replace(passedOnPattern, (_, names: string, path: string) => {
      exported.push(
        ...names
          .split(',')
          .map((name) => name.trim())
          .filter(Boolean),
      )
      return take(names, path)
    })
    .replace(declaredPattern, (_, name: string) => {
      exported.push(name)
      return ''
    })
  modules.set(url.href, `const m${modules.size} = (() => {\n${body}\nreturn { ${exported.join(', ')} }\n})()`)
  return exported
}
