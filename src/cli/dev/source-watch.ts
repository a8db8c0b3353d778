import { createHash } from 'node:crypto'
import { type FSWatcher, readdirSync, readFileSync, statSync, watch } from 'node:fs'
import { basename, dirname, extname, join, sep } from 'node:path'

/** Saving one file emits several events, and editors save several files at once. */
const debounceMs = 60

const sourceEndings: ReadonlySet<string> = new Set(['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'])
const ignoredFolders: ReadonlySet<string> = new Set(['node_modules', 'dist', 'coverage', 'data'])
const isIgnored = (folder: string): boolean => folder.startsWith('.') || ignoredFolders.has(folder)

/**
 * Watches the folder of the configuration, and imported files outside of it. A source that is not imported counts as a
 * change when it is new, because a configuration may read its folders, and while the configuration is invalid, because
 * the change may repair it. So may a new folder, such as that of `public`, and an imported file that is saved without a change. Static
 * files are read for each request, so that sources in their folder count only when they are imported.
 */
export class SourceWatch {
  readonly #folder: string
  readonly #watchers = new Map<string, FSWatcher>()
  /** Hashes of the contents: a file whose time alone changed is not reported. */
  readonly #hashes = new Map<string, string>()
  #imported: ReadonlySet<string> = new Set()
  #isBroken = false
  /** The configuration has failed and is not being loaded. */
  #hasFailed = false
  #publicFolder: string | undefined
  /** The changed files, with their hashes before the first change. */
  #changed = new Map<string, string | undefined>()
  #debounce: NodeJS.Timeout | undefined
  #next = Promise.withResolvers<void>()

  constructor(folder: string) {
    this.#folder = folder
    this.#enter(folder)
  }

  /** Sets the files that the configuration consists of, and the folder of static files. */
  follow(files: readonly string[], publicFolder: string | undefined): void {
    this.#isBroken = false
    this.#publicFolder = publicFolder !== undefined && isWithin(publicFolder, this.#folder) ? publicFolder : undefined
    this.#imported = new Set(files)
    this.#watchAll(files)
  }

  /** Adds the files that an invalid configuration consists of. */
  followBroken(files: readonly string[]): void {
    this.#isBroken = true
    this.#hasFailed = true
    this.#imported = new Set([...this.#imported, ...files])
    this.#watchAll(files)
  }

  #watchAll(files: readonly string[]): void {
    for (const file of files) {
      this.#remember(file)
      this.#watch(dirname(file))
    }
  }

  /** Resolves when files have changed since the last `take`. */
  get next(): Promise<void> {
    return this.#next.promise
  }

  /** The files that have changed since the last call. */
  take(): readonly string[] {
    const changed = [...this.#changed.keys()]
    this.#changed = new Map()
    // What a configuration writes while it is loaded must not load it again without end.
    this.#hasFailed = false
    this.#next = Promise.withResolvers<void>()
    return changed
  }

  close(): void {
    clearTimeout(this.#debounce)
    for (const watcher of this.#watchers.values()) watcher.close()
  }

  /** Watches a folder and its subfolders. */
  #enter(folder: string, isNew = false): void {
    this.#watch(folder)
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        if (!isIgnored(entry.name)) this.#enter(path, isNew)
      } else if (isNew) this.#inspect(path)
      else if (isSource(path)) this.#remember(path)
    }
  }

  #watch(folder: string): void {
    if (this.#watchers.has(folder)) return
    try {
      const watcher = watch(folder, (_, name) => name !== null && this.#inspect(join(folder, name)))
      // The folder was removed. If it is created again, the watcher of its parent reports it.
      watcher.on('error', () => this.#leave(folder))
      this.#watchers.set(folder, watcher)
    } catch {
      // Removed in the meantime.
    }
  }

  #leave(folder: string): void {
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
  }

  #inspect(path: string): void {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory()
    if (isFolder === undefined) this.#leave(path)
    if (isFolder) {
      if (this.#watchers.has(path) || isIgnored(path.slice(dirname(path).length + 1))) return
      this.#enter(path, true)
      if (this.#isBroken) this.#report(path)
      return
    }
    if (!this.#isRelevant(path)) return
    const before = this.#hashes.get(path)
    this.#remember(path)
    if (this.#hashes.get(path) !== before) this.#report(path, before)
    // What it failed for may have been repaired elsewhere, as in the database.
    else if (this.#hasFailed && this.#imported.has(path)) this.#report(path)
  }

  #report(path: string, before?: string): void {
    if (!this.#changed.has(path)) this.#changed.set(path, before)
    clearTimeout(this.#debounce)
    this.#debounce = setTimeout(() => this.#settle(), debounceMs)
  }

  /** A file that is saved may have been read while it was still empty: it has changed if it differs afterwards. */
  #settle(): void {
    for (const [path, before] of this.#changed) {
      if (before === undefined) continue
      this.#remember(path)
      if (this.#hashes.get(path) === before) this.#changed.delete(path)
    }
    if (this.#changed.size > 0) this.#next.resolve()
  }

  #isRelevant(path: string): boolean {
    // The installation of a missing package changes the manifest.
    if (this.#imported.has(path) || (this.#isBroken && basename(path) === 'package.json')) return true
    if (this.#publicFolder !== undefined && isWithin(path, this.#publicFolder)) return false
    return isSource(path) && (this.#isBroken || !this.#hashes.has(path))
  }

  #remember(path: string): void {
    try {
      this.#hashes.set(path, createHash('sha1').update(readFileSync(path)).digest('base64'))
    } catch {
      this.#hashes.delete(path)
    }
  }
}

const isWithin = (path: string, folder: string): boolean => path.startsWith(join(folder, sep))
const isSource = (path: string): boolean => sourceEndings.has(extname(path))

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return [] // removed, or not readable
  }
}
