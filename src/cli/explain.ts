import { ConfigError } from '../model/config-error.ts'
import { DatabaseError } from '../storage/driver.ts'
import { type ExitCode, exitCode, Refusal, UsageError } from './command.ts'
import { LoadError } from './load-error.ts'

/** A failure, for whoever has to do something about it. */
export interface Explanation {
  readonly message: string
  readonly problems: readonly string[]
  readonly advice?: string | undefined
  readonly code: ExitCode
}

/** A failure that another process has explained. */
export class Explained extends Error {
  readonly explanation: Explanation

  constructor(explanation: Explanation) {
    super(explanation.message)
    this.name = 'Explained'
    this.explanation = explanation
  }
}

/** What went wrong, in a line; everything at once where there is more than one thing to mend. */
export function explain(error: unknown): Explanation {
  if (error instanceof Explained) return error.explanation
  if (error instanceof UsageError) {
    const { message, advice } = error
    return { message, problems: [], advice, code: exitCode.wrongUsage }
  }
  if (error instanceof ConfigError) {
    const { problems } = error
    const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
    return { message: `The configuration has ${count}`, problems, code: exitCode.wrongConfig }
  }
  if (error instanceof LoadError) {
    const { message, details, advice } = error
    return { message, problems: details, advice, code: exitCode.wrongConfig }
  }
  if (error instanceof Refusal) return { message: error.message, problems: [], code: exitCode.failure }
  const message = error instanceof DatabaseError ? `The database cannot be used: ${reasonOf(error)}` : reasonOf(error)
  return { message, problems: [], advice: adviceFor(error), code: exitCode.failure }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A connection that was tried at several addresses says nothing itself.
  const [first] = error instanceof AggregateError ? error.errors : []
  const inner = error.message === '' ? (first ?? error.cause) : undefined
  return inner === undefined ? error.message || error.name : reasonOf(inner)
}

function adviceFor(error: unknown): string {
  const { code } = error as { readonly code?: unknown }
  if (code === 'EADDRINUSE') return '--port 0 takes any port that is free.'
  return '--verbose shows where in the code it came from.'
}
