import type { SchemaStep } from '../../storage/schema-step.ts'
import type { DatabasePlan } from './models-of-tables.ts'
import type { PlannedModel } from './plan-models.ts'
import { comment, inline, member, quoted } from './source-text.ts'

/** The configuration file of an existing database. `url` contains no password. */
export function databaseConfigText(url: string, plan: DatabasePlan): string {
  const indent = '  '
  const lines = [
    "import { defineConfig } from 'keelson'",
    '',
    'export default defineConfig({',
    ...databaseLines(url, indent),
    '',
    ...comment(migrateNote(plan.steps), indent),
    "  migrate: 'safe',",
    '',
    '  // Without access rules every client may read and write all of these tables.',
    "  // `access: { read: true, create: 'editor' }` declares rules for all models, or for one.",
    '',
    ...comment('The tables have no columns for these attributes, or the models declare them.', indent),
    '  attributes: { createdAt: false, updatedAt: false },',
    '',
    ...notesOfPlan(plan).flatMap((note) => comment(note, indent)),
    '  models: {',
    ...plan.models
      .map((model) => modelLines(model).join('\n'))
      .join('\n\n')
      .split('\n'),
    '  },',
    '})',
  ]
  return `${lines.join('\n')}\n`
}

function databaseLines(url: string, indent: string): readonly string[] {
  const isFile = url.startsWith('sqlite:')
  const note = isFile
    ? 'The database that the models describe; DATABASE_URL overrides it.'
    : 'The database that the models describe. DATABASE_URL overrides it and may contain the password, which this file does not.'
  return [...comment(note, indent), `  database: ${isFile ? '' : 'process.env.DATABASE_URL ?? '}${quoted(url)},`]
}

/** The comment on `migrate: 'safe'`: what a start with `'add'` would change. */
function migrateNote(steps: readonly SchemaStep[]): string {
  const indexes = steps.filter(({ kind }) => kind === 'createIndex').length
  const also =
    indexes === 0
      ? ''
      : `, and ${indexes === 1 ? 'an index of a foreign key that has' : `${indexes} indexes of foreign keys that have`} none`
  return `'safe' changes nothing in the database; there are no events, and no index is added. 'add' adds what events are read from: the tables of the change log, whose names begin with keelson_, and triggers on the tables of the models${also}. Try it with a copy first.`
}

/** What the models do not contain. */
export function notesOfPlan({ leftOut, junctions }: DatabasePlan): readonly string[] {
  const unserved = junctions.flatMap(({ table, places, unserved }) =>
    unserved.length === 0
      ? []
      : `"${table}" is served as ${places.join(' and ')}, without its columns ${unserved.join(', ')}.`,
  )
  return [...unserved, ...[...leftOut].map(([table, reason]) => `Left out: "${table}": ${reason}.`)]
}

function modelLines({ name, table, attributes, indexes, notes }: PlannedModel): readonly string[] {
  return [
    `    ${name}: {`,
    ...notes.flatMap((note) => comment(`${note}.`, '      ')),
    ...(table.name === name ? [] : [`      tableName: ${quoted(table.name)},`]),
    '      attributes: {',
    ...[...attributes].flatMap(([attribute, { definition, note, hint }]) => [
      ...[note, hint].flatMap((text) => (text === undefined ? [] : comment(`${text}.`, '        '))),
      ...member(attribute, definition, '        '),
    ]),
    '      },',
    ...(indexes.length === 0 ? [] : [`      indexes: ${inline(indexes)},`]),
    '    },',
  ]
}
