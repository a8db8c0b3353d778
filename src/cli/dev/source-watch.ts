import { createHash } from 'node:crypto'
import { type FSWatcher, readdirSync, readFileSync, statSync, watch } from 'node:fs'
import { dirname, extname, join } from 'node:path'

/** Saving one file is several events, and editors save several files. */
const settleMs = 60

const sourceEndings: ReadonlySet<string> = new Set(['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'])
const ignoredFolders: ReadonlySet<string> = new Set(['node_modules', 'dist', 'coverage', 'data'])
const isIgnored = (folder: string): boolean => folder.startsWith('.') || ignoredFolders.has(folder)

/**
 * Watches a folder of sources, and files elsewhere that are imported. A source nobody imports counts when it is new,
 * because a configuration may read its folders, and as long as the configuration is broken, because it may mend it.
 */
export class SourceWatch {
  readonly #watchers = new Map<string, FSWatcher>()
  /** What each file held when it was last looked at: a file that is only touched has not changed. */
  readonly #contents = new Map<string, string>()
  #imported: ReadonlySet<string> = new Set()
  #isBroken = false
  #changed = new Set<string>()
  #settling: NodeJS.Timeout | undefined
  #next = Promise.withResolvers<void>()

  constructor(folder: string) {
    this.#enter(folder)
  }

  /** What the configuration consists of now. */
  follow(files: readonly string[], isBroken: boolean): void {
    this.#isBroken = isBroken
    this.#imported = new Set(isBroken ? [...this.#imported, ...files] : files)
    for (const file of files) {
      this.#remember(file)
      this.#watch(dirname(file))
    }
  }

  /** Resolves when something has changed that was not taken yet. */
  get next(): Promise<void> {
    return this.#next.promise
  }

  /** The files that have changed since this was last asked. */
  take(): readonly string[] {
    const changed = [...this.#changed]
    this.#changed = new Set()
    this.#next = Promise.withResolvers<void>()
    return changed
  }

  close(): void {
    clearTimeout(this.#settling)
    for (const watcher of this.#watchers.values()) watcher.close()
  }

  /** A folder with everything below it. */
  #enter(folder: string, isNew = false): void {
    this.#watch(folder)
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        if (!isIgnored(entry.name)) this.#enter(path, isNew)
      } else if (isNew) this.#look(path)
      else if (isSource(path)) this.#remember(path)
    }
  }

  #watch(folder: string): void {
    if (this.#watchers.has(folder)) return
    try {
      const watcher = watch(folder, (_, name) => name !== null && this.#look(join(folder, name)))
      // The folder is gone. If it comes back, its parent says so.
      watcher.on('error', () => this.#leave(folder))
      this.#watchers.set(folder, watcher)
    } catch {
      // Gone before we came.
    }
  }

  #leave(folder: string): void {
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
  }

  #look(path: string): void {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory()
    if (isFolder === undefined) this.#leave(path)
    if (isFolder) {
      if (!this.#watchers.has(path) && !isIgnored(path.slice(dirname(path).length + 1))) this.#enter(path, true)
      return
    }
    if (!this.#matters(path)) return
    const before = this.#contents.get(path)
    this.#remember(path)
    if (this.#contents.get(path) === before) return
    this.#changed.add(path)
    clearTimeout(this.#settling)
    this.#settling = setTimeout(() => this.#next.resolve(), settleMs)
  }

  #matters(path: string): boolean {
    return this.#imported.has(path) || (isSource(path) && (this.#isBroken || !this.#contents.has(path)))
  }

  #remember(path: string): void {
    try {
      this.#contents.set(path, createHash('sha1').update(readFileSync(path)).digest('base64'))
    } catch {
      this.#contents.delete(path)
    }
  }
}

const isSource = (path: string): boolean => sourceEndings.has(extname(path))

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return [] // gone, or not ours to read
  }
}
