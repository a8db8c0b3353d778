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
  const covered = ['memory', `SQLite ${process.versions.sqlite}`]
  const missing = ['MySQL and MariaDB (not supported)']
  if ('name' in postgres) covered.push(`PostgreSQL (${postgres.name})`)
  else missing.unshift(`PostgreSQL (${postgres.missing})`)
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
