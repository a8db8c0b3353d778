import { styleText } from 'node:util'
import type { JsonObject } from '../protocol/json.ts'

export type Format = Parameters<typeof styleText>[0]

/** The output of a command: text lines, or with `--json` one JSON object per line. Never both. */
export interface Output {
  readonly isJson: boolean
  /** Whether the current line can be redrawn. */
  readonly isTerminal: boolean
  readonly columns: number
  /** Prints a text line. Ignored with `--json`. */
  line(text?: string): void
  /** Prints a JSON object. Ignored without `--json`. */
  event(event: JsonObject): void
  /** Prints a text line to the standard error stream, also with `--json`. */
  error(text: string): void
  /** Replaces the current line of a terminal; '' clears it. */
  draw(text: string): void
  paint(format: Format, text: string): string
}

/** The part of `process` that is used. */
export interface OutputStreams {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }
  readonly stderr: NodeJS.WritableStream
}

export function createOutput(isJson: boolean, { stdout, stderr }: OutputStreams): Output {
  const isTerminal = stdout.isTTY === true && !isJson
  return {
    isJson,
    isTerminal,
    get columns() {
      return stdout.columns || 80
    },
    line(text = '') {
      if (!isJson) stdout.write(`${text}\n`)
    },
    event(event) {
      if (isJson) stdout.write(`${JSON.stringify(event)}\n`)
    },
    error: (text) => void stderr.write(`${text}\n`),
    draw(text) {
      if (isTerminal) stdout.write(`\r\x1b[2K${text}`)
    },
    // Returns the text unchanged when NO_COLOR is set or the output is not a terminal.
    paint: (format, text) => styleText(format, text, { stream: stdout }),
  }
}

/** Exits with 0 when the reader of the output closes the pipe, as `head` does. */
export function exitOnBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(0)
      throw error
    })
  }
}
