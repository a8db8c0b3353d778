import type { Progress } from '../service/in-process/seed.ts'
import type { Output } from './output.ts'

/** Without a terminal, one line is printed for each of this many parts. */
const plainLines = 4
const barWidth = 28
/** The shortest time between two drawings of the bar. */
const redrawMs = 50

/** Reports progress: a bar on a terminal, a few lines elsewhere, events with `--json`. */
export function progressLine(label: string, output: Output): Progress {
  let shownAt = 0
  let shownPart = 0
  return (done, total) => {
    const part = total === 0 ? 1 : Math.min(done / total, 1)
    const isDone = done >= total
    if (output.isTerminal) {
      const now = performance.now()
      if (!isDone && now - shownAt < redrawMs) return
      shownAt = now
      output.draw(isDone ? '' : bar(label, part, done, total, output))
      return
    }
    const step = Math.floor(part * plainLines)
    if (step === shownPart) return
    shownPart = step
    output.event({ event: 'progress', label, done, total })
    output.line(`  ${label} ${Math.floor(part * 100)} %, ${done} of ${total}`)
  }
}

function bar(label: string, part: number, done: number, total: number, { paint, columns }: Output): string {
  const filled = Math.round(part * barWidth)
  const drawn = paint('cyan', '━'.repeat(filled)) + paint('dim', '─'.repeat(barWidth - filled))
  const numbers = `${done} of ${total}`
  return columns < label.length + barWidth + numbers.length + 8
    ? `  ${label} ${numbers}`
    : `  ${label}  ${drawn}  ${paint('dim', numbers)}`
}
