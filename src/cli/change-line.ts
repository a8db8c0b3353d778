import type { Change } from '../protocol/change.ts'
import type { Json } from '../protocol/json.ts'
import type { Screen } from './screen.ts'

const verbColors = { created: 'green', updated: 'blue', destroyed: 'red' } as const

/** A change as a line: when, what was done, to whom, and what became of its values. */
export function showChange(change: Change, screen: Screen): void {
  screen.event({ ...change })
  const { paint } = screen
  const time = paint('dim', change.at.slice(11, 23))
  const verb = paint(verbColors[change.verb], change.verb.padEnd(9))
  const what = paint('bold', `${change.model} ${[change.id].flat().join(' + ')}`)
  screen.line(`  ${time}  ${verb}  ${what}  ${paint('dim', detailsOf(change))}`)
}

/** Longer values are cut: the log is read line by line. */
const longestValue = 40

function detailsOf({ verb, before = {}, after = {} }: Change): string {
  if (verb === 'destroyed') return ''
  const names = Object.keys(after).filter((name) => verb === 'created' || !isSame(before[name], after[name]))
  const moved = (name: string) => (verb === 'created' ? '' : `${short(before[name])} → `)
  return names
    .filter((name) => verb === 'updated' || after[name] !== null)
    .map((name) => `${name} ${moved(name)}${short(after[name])}`)
    .join('  ')
}

const isSame = (a: Json | undefined, b: Json | undefined): boolean => JSON.stringify(a) === JSON.stringify(b)

function short(value: Json | undefined): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null)
  return text.length > longestValue ? `${text.slice(0, longestValue - 1)}…` : text
}
