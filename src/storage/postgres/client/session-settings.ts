/** Settings of one connection, independent of the defaults of server, database and role. */
export interface Session {
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs?: number
}

export type Setting = readonly [name: string, value: string]

/** The text form of values depends on these settings; the decoder knows one form of each. */
const textForms: readonly Setting[] = [
  ['timezone', 'UTC'],
  ['datestyle', 'ISO, MDY'],
  ['intervalstyle', 'postgres'],
  ['bytea_output', 'hex'],
  ['extra_float_digits', '1'],
  ['standard_conforming_strings', 'on'],
]

export const settingsOf = ({ statementTimeoutMs, lockTimeoutMs = 0 }: Session): readonly Setting[] => [
  ...textForms,
  ['statement_timeout', String(Math.trunc(statementTimeoutMs))],
  ['lock_timeout', String(Math.trunc(lockTimeoutMs))],
  // A transaction awaits only its own statements, so an idle one belongs to a stopped program.
  ['idle_in_transaction_session_timeout', '60000'],
  // Compiling takes longer than most statements, and is begun for a cost that is far above what `exists` takes in the end.
  ['jit', 'off'],
  // Several processes for one scan would take the processors from the lookups of others.
  ['max_parallel_workers_per_gather', '0'],
]

/** For the rest of the session. */
export const sessionScript = (settings: readonly Setting[]): string => scriptOf('set', settings)

/** For the rest of the transaction, as statements after `begin`. */
export const transactionScript = (settings: readonly Setting[]): string => scriptOf('set local', settings)

/** For the rest of the transaction, as the list of one `select`. */
export const settingCalls = (settings: readonly Setting[]): string =>
  settings.map(([name, value]) => `set_config('${name}', '${value}', true)`).join(', ')

const scriptOf = (verb: string, settings: readonly Setting[]): string =>
  settings.map(([name, value]) => `${verb} ${name} = '${value}'`).join('; ')
