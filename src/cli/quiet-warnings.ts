/**
 * What Node says of features that the program chose on purpose, and of configurations that stand in no package: true,
 * and nothing that whoever reads it here could do anything about.
 */
const known = [/^SQLite is an experimental feature/, /^Type Stripping is an experimental feature/, /^Module type of /]

export function quietWarnings(): void {
  const emit = process.emitWarning
  process.emitWarning = ((warning: string | Error, ...rest: []) => {
    const text = typeof warning === 'string' ? warning : warning.message
    if (!known.some((pattern) => pattern.test(text))) emit.call(process, warning, ...rest)
  }) as typeof process.emitWarning
}
