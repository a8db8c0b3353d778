import type { Models } from '../model/model.ts'
import type { Change } from '../protocol/change.ts'
import type { Json } from '../protocol/json.ts'
import type { Output } from './output.ts'

const verbColors = { created: 'green', updated: 'blue', destroyed: 'red' } as const

/** Longer values are truncated, so that a change fits on a line. */
const longestValue = 40

/** Prints a change as one line: time, verb, record and the values that changed. */
export function printChange(change: Change, models: Models, output: Output): void {
  output.event({ ...change })
  const { paint } = output
  const time = paint('dim', change.at.slice(11, 23))
  const verb = paint(verbColors[change.verb], change.verb.padEnd(9))
  const what = paint('bold', `${change.model} ${[change.id].flat().join(' + ')}`)
  output.line(`  ${time}  ${verb}  ${what}  ${detailsOf(change, models, output)}`.trimEnd())
}

function detailsOf({ verb, model, before = {}, after = {} }: Change, models: Models, { paint }: Output): string {
  if (verb === 'destroyed') return ''
  const isNew = verb === 'created'
  return (
    [...(models.get(model)?.attributes.values() ?? [])]
      // The key and the time stand at the beginning of the line.
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
