import { isCovered } from '../support/covered.ts'
import type { Lanes } from './lanes.ts'
import type { FileResult } from './run-file.ts'

/** One line for a file of a large run. */
export function line({ file, isPassed, seconds, counts }: FileResult): string {
  return `${isPassed ? '✔' : '✖'} ${seconds.toFixed(1).padStart(6)} s ${String(counts?.tests ?? '?').padStart(5)}  ${file}`
}

/**
 * What ends every run: the skips by reason, the totals, the databases, the files that passed only when they were repeated,
 * and the files that failed.
 */
export function summary(
  results: readonly FileResult[],
  unstable: readonly string[],
  postgres: Lanes['postgres'],
  seconds: number,
): string {
  const total = (name: 'tests' | 'passed' | 'skipped') =>
    results.reduce((sum, { counts }) => sum + (counts?.[name] ?? 0), 0)
  const failedFiles = results.filter(({ isPassed }) => !isPassed).map(({ file }) => file)
  const reasons = Map.groupBy(
    results.flatMap(({ skips }) => skips),
    (reason) => reason,
  )
  const covered: string[] = []
  const missing: string[] = []
  const say = (database: string, name: string, reason = isCovered(database) ? undefined : 'KEELSON_TEST_DATABASES') =>
    reason === undefined ? covered.push(name) : missing.push(`${name} (${reason})`)
  say('memory', 'memory')
  say('sqlite', `SQLite ${process.versions.sqlite}`)
  if ('name' in postgres) say('postgres', `PostgreSQL (${postgres.name})`)
  else missing.push(`PostgreSQL (${postgres.missing})`)
  missing.push('MySQL and MariaDB (not supported)')
  return [
    '',
    ...[...reasons].map(([reason, { length }]) => `Skipped ${length === 1 ? '' : `${length} × `}(${reason})`),
    `Node ${process.versions.node}: ${results.length} files, ${total('tests')} tests in ${seconds.toFixed(0)} s: ` +
      `${total('passed')} passed, ${total('tests') - total('passed') - total('skipped')} failed, ${total('skipped')} skipped`,
    `Databases covered:     ${covered.join(', ')}`,
    `Databases NOT covered: ${missing.join(', ')}`,
    ...(unstable.length > 0 ? [`UNSTABLE, failed and then passed alone: ${unstable.join(', ')}`] : []),
    ...(failedFiles.length > 0 ? [`FAILED: ${failedFiles.join(', ')}`] : []),
  ].join('\n')
}
