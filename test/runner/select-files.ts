import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Those among the quick files that take long, although they are small: most of what they run is elsewhere. */
const longest = ['test/integration/conformance.test.ts', 'test/integration/sockets.test.ts', 'test/docs/docs.test.ts']

export type Speed = 'quick' | 'slow' | 'all'

/**
 * The test files of a run, or of some folders of it. `*.slow.test.ts` is left to `npm run test:all`: long histories and
 * searches, measurements, tests that need a browser, a compiler, a package, a command or several processes, and those of
 * one part of the PostgreSQL storage, whose behaviour the suites over all databases cover. Files that usually take long
 * come first, so that no lane ends with one: the slow ones, then those of `test/`, then the larger ones.
 */
export function selectFiles(speed: Speed, folders: readonly string[] = ['src', 'test']): readonly string[] {
  const patterns = folders.map((folder) => `${folder.replace(/\/$/, '')}/**/*.test.ts`)
  return globSync(patterns, { cwd: root })
    .filter((file) => speed === 'all' || file.endsWith('.slow.test.ts') === (speed === 'slow'))
    .map((file) => ({ file, bytes: statSync(join(root, file)).size }))
    .sort((a, b) => rank(a.file) - rank(b.file) || b.bytes - a.bytes)
    .map(({ file }) => file)
}

function rank(file: string): number {
  if (file.endsWith('.slow.test.ts')) return 0
  if (longest.includes(file)) return 1
  return file.startsWith('test') ? 2 : 3
}
