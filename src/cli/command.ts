import type { Given, OptionName } from './option.ts'
import type { Program } from './program.ts'

/** One thing the program can do. To add one: a file in `commands/` and a line in `commands.ts`. */
export interface Command {
  readonly name: string
  readonly summary: string
  readonly options: readonly OptionName[]
  /** Lines that can be run as they are, and what they do. */
  readonly examples: readonly (readonly [line: string, does: string])[]
  /** For our own use: neither listed nor suggested. */
  readonly isInternal?: boolean
  /** Resolves with the exit code. What it throws becomes a message and an exit code. */
  run(given: Given, program: Program): Promise<ExitCode>
}

export const exitCode = {
  ok: 0,
  failure: 1,
  wrongUsage: 2,
  /** EX_CONFIG of sysexits.h: starting again will not help until somebody changes the configuration. */
  wrongConfig: 78,
} as const
export type ExitCode = (typeof exitCode)[keyof typeof exitCode]

/** The command line cannot be understood. */
export class UsageError extends Error {
  readonly advice: string | undefined

  constructor(message: string, advice?: string) {
    super(message)
    this.name = 'UsageError'
    this.advice = advice
  }
}

/** What was asked for cannot be done, for a reason that is all there is to say. */
export class Refusal extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Refusal'
  }
}
