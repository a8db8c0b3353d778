import type { Models } from '../model/model.ts'
import type { Change } from '../protocol/change.ts'
import type { Json } from '../protocol/json.ts'
import type { Screen } from './screen.ts'

const verbColors = { created: 'green', updated: 'blue', destroyed: 'red' } as const

/** Longer values are cut: the log is read line by line. */
const longestValue = 40

/** A change as a line: when, what was done, to whom, and what became of its values. */
export function showChange(change: Change, models: Models, screen: Screen): void {
  screen.event({ ...change })
  const { paint } = screen
  const time = paint('dim', change.at.slice(11, 23))
  const verb = paint(verbColors[change.verb], change.verb.padEnd(9))
  const what = paint('bold', `${change.model} ${[change.id].flat().join(' + ')}`)
  screen.line(`  ${time}  ${verb}  ${what}  ${detailsOf(change, models, screen)}`.trimEnd())
}

function detailsOf({ verb, model, before = {}, after = {} }: Change, models: Models, { paint }: Screen): string {
  if (verb === 'destroyed') return ''
  const isNew = verb === 'created'
  return (
    [...(models.get(model)?.attributes.values() ?? [])]
      // The key stands there already, and the times of writing are the time of the line.
      .filter(({ isPrimaryKey, autoCreatedAt, autoUpdatedAt }) => !isPrimaryKey && !autoCreatedAt && !autoUpdatedAt)
      .filter(({ name }) => (isNew ? (after[name] ?? null) !== null : !isSame(before[name], after[name])))
      .map(({ name }) => `${paint('dim', name)} ${isNew ? '' : `${short(before[name])} → `}${short(after[name])}`)
      .join('  ')
  )
}

const isSame = (a: Json | undefined, b: Json | undefined): boolean => JSON.stringify(a) === JSON.stringify(b)

function short(value: Json | undefined): string {
  const text = JSON.stringify(value ?? null)
  return text.length > longestValue ? `${text.slice(0, longestValue - 1)}…` : text
}
