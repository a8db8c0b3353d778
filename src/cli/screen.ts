import { styleText } from 'node:util'
import type { JsonObject } from '../protocol/json.ts'

export type Format = Parameters<typeof styleText>[0]

/** Where a command writes: lines for people, or one JSON object a line for programs; never both. */
export interface Screen {
  readonly isJson: boolean
  /** Somebody is looking at it: it can be drawn over. */
  readonly isTerminal: boolean
  readonly columns: number
  /** For people. */
  line(text?: string): void
  /** For programs. */
  event(event: JsonObject): void
  /** For people, on the error stream, whatever was asked for on the other. */
  complain(text: string): void
  /** Replaces the current line of a terminal; '' clears it. */
  draw(text: string): void
  paint(format: Format, text: string): string
}

export function createScreen(isJson: boolean): Screen {
  const { stdout, stderr } = process
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
    complain: (text) => void stderr.write(`${text}\n`),
    draw(text) {
      if (isTerminal) stdout.write(`\r\x1b[2K${text}`)
    },
    // Plain when NO_COLOR is set, and when nobody is looking.
    paint: (format, text) => styleText(format, text, { stream: stdout }),
  }
}

/** Whoever reads our output may stop reading, as `head` does: that is no failure, and nothing is left to do. */
export function endWithTheReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(0)
      throw error
    })
  }
}
