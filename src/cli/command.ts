import type { CommandContext } from './command-context.ts'
import type { OptionName, OptionValues } from './option.ts'

/** A command of the program. To add one: a file in `commands/` and a line in `commands.ts`. */
export interface Command {
  readonly name: string
  readonly summary: string
  readonly options: readonly OptionName[]
  /** The options whose values may be given without their names, in this order. */
  readonly arguments?: readonly OptionName[]
  /** Complete command lines with a description of each. */
  readonly examples: readonly (readonly [line: string, does: string])[]
  /** Started by other commands only: not listed in the help and not suggested. */
  readonly isInternal?: boolean
  /** Resolves with the exit code. An error that it throws is printed and determines the exit code. */
  run(options: OptionValues, context: CommandContext): Promise<ExitCode>
}

export const exitCode = {
  ok: 0,
  failure: 1,
  wrongUsage: 2,
  /** EX_CONFIG of sysexits.h: a restart fails again until the configuration is changed. */
  wrongConfig: 78,
} as const
export type ExitCode = (typeof exitCode)[keyof typeof exitCode]

/** The command line is wrong. */
export class UsageError extends Error {
  readonly advice: string | undefined

  constructor(message: string, advice?: string) {
    super(message)
    this.name = 'UsageError'
    this.advice = advice
  }
}

/** The command cannot be executed. The message is the whole explanation; no stack trace is needed. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CommandError'
  }
}
