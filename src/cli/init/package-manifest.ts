import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { CommandError } from '../command.ts'
import { version } from '../own-package.ts'
import { readIfExists } from './read-if-exists.ts'
import { unwritable } from './unwritable.ts'

const scripts = { dev: 'keelson dev', start: 'keelson start' } as const

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly scripts?: Readonly<Record<string, string>>
  readonly [name: string]: unknown
}

/** The `package.json` of a folder: what it lacks to run the service, and whether it exists. */
export class PackageManifest {
  readonly #path: string
  readonly exists: boolean
  readonly #text: string
  readonly #manifest: Manifest

  /** Throws a CommandError when the file exists and is not a JSON object, or cannot be read. */
  constructor(folder: string) {
    this.#path = join(folder, 'package.json')
    const text = readIfExists(this.#path)
    this.exists = text !== undefined
    // npm accepts a byte order mark.
    this.#text = text?.replace(/^\uFEFF/, '') ?? ''
    this.#manifest = this.exists ? parse(this.#text) : newManifest(folder)
  }

  /** Whether `npx tsc` can check the types. */
  get hasTypeScript(): boolean {
    const { dependencies, devDependencies } = this.#manifest
    return Object.hasOwn({ ...dependencies, ...devDependencies }, 'typescript')
  }

  /** Whether Node refuses `import` in the configuration, where another program than this command imports it. */
  get isCommonJs(): boolean {
    return this.#manifest.type === 'commonjs'
  }

  /** Writes a new file, or adds the missing scripts to an existing one. Returns the names of the added scripts. */
  write(): readonly string[] {
    const existing = this.#manifest.scripts ?? {}
    const added = Object.keys(scripts).filter((name) => !Object.hasOwn(existing, name))
    if (this.exists && added.length === 0) return []
    const manifest = { ...this.#manifest, scripts: { ...scripts, ...existing } }
    try {
      writeFileSync(this.#path, `${JSON.stringify(manifest, null, indentOf(this.#text))}\n`)
    } catch (error) {
      throw unwritable(this.#path, error)
    }
    return added
  }
}

function parse(text: string): Manifest {
  try {
    const manifest: unknown = JSON.parse(text)
    if (typeof manifest === 'object' && manifest !== null && !Array.isArray(manifest)) return manifest as Manifest
  } catch {
    // Reported below.
  }
  throw new CommandError('package.json is not a JSON object. Nothing was written.')
}

const newManifest = (folder: string): Manifest => ({
  name: packageName(basename(folder)),
  private: true,
  type: 'module',
  scripts: {},
  dependencies: { keelson: `^${version()}` },
})

/** A valid package name, made from the name of the folder. */
const packageName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|-+$/g, '') || 'service'

const indentOf = (text: string): string => /^[ \t]+(?=")/m.exec(text)?.[0] ?? '  '
