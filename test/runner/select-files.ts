import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Files that take long although they are small, because most of what they run is elsewhere; the longest first. */
const longest = [
  'test/chaos/history.slow.test.ts',
  'test/chaos/jobs.slow.test.ts',
  'test/attack/hostile-listeners.slow.test.ts',
  'test/property/parity-mistakes.slow.test.ts',
  'test/integration/conformance.slow.test.ts',
  'test/attack/cost-fuzz.slow.test.ts',
  'test/integration/sole-writer.slow.test.ts',
  'test/integration/poolers.slow.test.ts',
  'test/integration/hooks.slow.test.ts',
  'test/property/find-shapes.slow.test.ts',
  'test/property/access.slow.test.ts',
  'test/structure/types.slow.test.ts',
  'test/attack/large-rows.test.ts',
  'test/integration/conformance.test.ts',
  'test/integration/sockets.test.ts',
  'test/docs/docs.test.ts',
]

export type Speed = 'quick' | 'slow' | 'all'

/**
 * The test files of a run, or of some folders of it. `*.slow.test.ts` is left to `npm run test:all`: long histories and
 * searches, measurements, tests that need a browser, a compiler, a package, a command or several processes, and those of
 * one part of the PostgreSQL storage, whose behaviour the suites over all databases cover.
 */
export function selectFiles(speed: Speed, folders: readonly string[] = ['src', 'test']): readonly string[] {
  const patterns = folders.map((folder) => `${folder.replace(/\/$/, '')}/**/*.test.ts`)
  return globSync(patterns, { cwd: root }).filter(
    (file) => speed === 'all' || file.endsWith('.slow.test.ts') === (speed === 'slow'),
  )
}

/** Files that usually take long come first, so that no lane ends with one: the slow ones, then those of `test/`, then the larger ones. */
export function longestFirst(files: readonly string[]): readonly string[] {
  const bytes = new Map(files.map((file) => [file, statSync(join(root, file), { throwIfNoEntry: false })?.size ?? 0]))
  return files.toSorted((a, b) => rank(a) - rank(b) || (bytes.get(b) as number) - (bytes.get(a) as number))
}

function rank(file: string): number {
  const place = longest.indexOf(file)
  if (place >= 0) return place
  const kind = file.endsWith('.slow.test.ts') ? 0 : file.startsWith('test') ? 1 : 2
  return longest.length + kind
}
