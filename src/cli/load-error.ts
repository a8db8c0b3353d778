/** The configuration file cannot be loaded: it is not found, cannot be imported, or has no default export. */
export class LoadError extends Error {
  readonly details: readonly string[]
  readonly advice: string | undefined

  constructor(message: string, options: { details?: readonly string[]; advice?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'LoadError'
    this.details = options.details ?? []
    this.advice = options.advice
  }
}
