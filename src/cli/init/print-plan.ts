import type { JsonObject } from '../../protocol/json.ts'
import type { Output } from '../output.ts'
import type { DatabasePlan } from './models-of-tables.ts'
import { oneLine } from './source-text.ts'

/** What was written and what was left out, for programs. */
export const planEvent = ({ models, junctions, leftOut }: DatabasePlan): JsonObject => ({
  models: models.map(({ name }) => name),
  junctions: junctions.map(({ table }) => table),
  leftOut: Object.fromEntries(leftOut),
  notes: notesOf(models),
  hidden: hiddenIn(models),
})

/** Prints what was written and what was left out. */
export function printPlan({ models, junctions, leftOut }: DatabasePlan, { line, paint }: Output): void {
  const print = (title: string, texts: readonly string[]) => {
    if (texts.length === 0) return
    line(`\n  ${title}`)
    for (const text of texts) line(`    ${oneLine(text)}`)
  }
  const count = models.length === 1 ? 'One model describes a table' : `${models.length} models describe as many tables`
  line(`\n  ${count}; the database was not changed.`)
  print(
    'Tables of pairs, served as associations:',
    junctions.map(({ table, places, unserved }) => {
      const without = unserved.length === 0 ? '' : `, without ${unserved.join(', ')}`
      return `${table}: ${places.join(' and ')}${without}`
    }),
  )
  print(
    paint('yellow', 'Left out:'),
    [...leftOut].map(([table, reason]) => `${table}: ${reason}`),
  )
  print(paint('yellow', 'Notes:'), notesOf(models))
  print('Hidden in responses, because of their names:', hiddenIn(models))
}

const notesOf = (models: DatabasePlan['models']): readonly string[] =>
  models.flatMap(({ name, notes, attributes }) => [
    ...notes.map((note) => `${name}: ${note}`),
    ...[...attributes].flatMap(([attribute, { note }]) =>
      note === undefined ? [] : [`${name}.${attribute}: ${note}`],
    ),
  ])

const hiddenIn = (models: DatabasePlan['models']): readonly string[] =>
  models.flatMap(({ name, attributes }) =>
    [...attributes].flatMap(([attribute, { definition }]) => (definition.hidden ? [`${name}.${attribute}`] : [])),
  )
