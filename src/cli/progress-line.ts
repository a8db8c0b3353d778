import type { Progress } from '../service/seed.ts'
import type { Screen } from './screen.ts'

/** Where nobody looks at a terminal, a line is enough for each of so many parts. */
const plainLines = 4
const barWidth = 28
/** A bar that moves more often than this only costs time. */
const redrawMs = 50

/** Shows how far something has come: a bar on a terminal, a few lines elsewhere, events for programs. */
export function progressLine(label: string, screen: Screen): Progress {
  let shownAt = 0
  let shownPart = 0
  return (done, total) => {
    const part = total === 0 ? 1 : Math.min(done / total, 1)
    const isDone = done >= total
    if (screen.isTerminal) {
      const now = performance.now()
      if (!isDone && now - shownAt < redrawMs) return
      shownAt = now
      screen.draw(isDone ? '' : bar(label, part, done, total, screen))
      return
    }
    const step = Math.floor(part * plainLines)
    if (step === shownPart) return
    shownPart = step
    screen.event({ event: 'progress', label, done, total })
    screen.line(`  ${label} ${Math.floor(part * 100)} %, ${done} of ${total}`)
  }
}

function bar(label: string, part: number, done: number, total: number, { paint, columns }: Screen): string {
  const filled = Math.round(part * barWidth)
  const drawn = paint('cyan', '━'.repeat(filled)) + paint('dim', '─'.repeat(barWidth - filled))
  const numbers = `${done} of ${total}`
  return columns < label.length + barWidth + numbers.length + 8
    ? `  ${label} ${numbers}`
    : `  ${label}  ${drawn}  ${paint('dim', numbers)}`
}
