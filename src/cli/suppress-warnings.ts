/**
 * Warnings of Node about features that this program uses on purpose, and about a configuration outside of a package.
 * The user of the command cannot act on them.
 */
const suppressed = [
  /^SQLite is an experimental feature/,
  /^stripTypeScriptTypes is an experimental feature/,
  /^Type Stripping is an experimental feature/,
  /^Module type of /,
]

export function suppressWarnings(): void {
  const emit = process.emitWarning
  process.emitWarning = ((warning: string | Error, ...rest: []) => {
    const text = typeof warning === 'string' ? warning : warning.message
    if (!suppressed.some((pattern) => pattern.test(text))) emit.call(process, warning, ...rest)
  }) as typeof process.emitWarning
}
