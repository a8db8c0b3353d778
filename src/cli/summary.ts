import { networkInterfaces } from 'node:os'
import type { JsonObject } from '../protocol/json.ts'
import { describeStep, renamedTable, type SchemaStep } from '../storage/schema-step.ts'
import { sentenceList } from '../support/sentence-list.ts'
import { displayPath } from './import-error.ts'
import type { Output } from './output.ts'

/** The summary of a started service. Plain data, because a worker process sends it to its parent. */
export interface Ready {
  readonly name: string
  readonly version: string
  readonly url: string
  readonly host: string
  readonly port: number
  readonly models: number
  readonly routes: number
  /** Kind, version and location of the database. */
  readonly database: string
  /** The schema changes that were made. */
  readonly steps: readonly SchemaStep[]
  readonly seeded: boolean
  /** The models without access rules: every client may read and write them. */
  readonly open: readonly string[]
  /** Which changes the change log of this database cannot contain; undefined if it contains all of them. */
  readonly limitation?: string | undefined
  /** What the configuration contains and the service does not use. */
  readonly warnings?: readonly string[]
  /** URLs of the pages in the top folder of `public`. */
  readonly pages: readonly string[]
  /** The number of worker processes; undefined without `--workers`. */
  readonly workers?: number
  readonly ms: number
}

export const readyEvent = (ready: Ready): JsonObject => {
  const { limitation, steps, ...rest } = ready
  return { event: 'ready', ...rest, steps: steps.map(describeStep), ...(limitation !== undefined && { limitation }) }
}

/** Prints the summary after the start: address, models, database and schema changes. */
export function printSummary(ready: Ready, output: Output, footer: string): void {
  const { paint } = output
  const head = `${paint('bold', 'keelson')} ${paint('dim', ready.version)}   ${paint('bold', ready.name)}`
  output.line()
  output.line(`  ${head}   ${paint('dim', `ready in ${duration(ready.ms)}`)}`)
  output.line()
  for (const [label, text] of rowsOf(ready, output)) output.line(`  ${paint('dim', label.padEnd(10))}${text}`)
  output.line()
  output.line(`  ${paint('dim', footer)}`)
  output.line()
}

function rowsOf(ready: Ready, { paint }: Output): readonly (readonly [string, string])[] {
  return [
    ['Address', paint(['cyan', 'underline'], ready.url)],
    ...networkUrls(ready).map((url) => ['Network', paint(['cyan', 'underline'], url)] as const),
    ...ready.pages.slice(0, maxPages).map((page) => ['Pages', paint(['cyan', 'underline'], page)] as const),
    ['Models', `${ready.models} ${paint('dim', `· ${ready.routes} routes; keelson routes lists them`)}`],
    ...(ready.open.length === 0 ? [] : [['Access', paint('yellow', openText(ready))] as const]),
    ...(ready.workers === undefined ? [] : [['Workers', String(ready.workers)] as const]),
    ['Database', shortPaths(ready.database)],
    ['Schema', summarize(ready.steps) || paint('dim', 'up to date')],
    ...(ready.seeded ? [['Seed', 'initial records created'] as const] : []),
    ...(ready.warnings ?? []).map((warning) => ['Warning', paint('yellow', warning)] as const),
    ...(ready.limitation === undefined ? [] : [['Log', paint('yellow', ready.limitation)] as const]),
  ]
}

/** The URLs for other machines, if the service listens on all addresses of this one. */
const networkUrls = ({ host, port }: Ready): readonly string[] =>
  host !== '0.0.0.0' && host !== '::'
    ? []
    : Object.values(networkInterfaces())
        .flatMap((addresses) => addresses ?? [])
        .filter(({ family, internal }) => family === 'IPv4' && !internal)
        .map(({ address }) => `http://${address}:${port}`)

const openText = ({ open, models }: Ready): string =>
  `open: every client may read and write${open.length === models ? '' : ` ${open.join(', ')}`}`

/** More pages than this are an application, whose pages need no list. */
const maxPages = 3

export const duration = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`)

/** Shortens the path in a description such as `SQLite 3.53 (/home/me/shop/data/app.db)`. */
const shortPaths = (description: string): string =>
  description.replace(/\((\/[^)]+|[A-Za-z]:\\[^)]+)\)$/, (_, path: string) => `(${displayPath(path)})`)

/** The kinds of schema changes that are counted when there are many. */
const counted: readonly (readonly [kind: SchemaStep['kind'], one: string, many: string])[] = [
  ['createTable', 'table', 'tables'],
  ['createIndex', 'index', 'indexes'],
  ['addForeignKey', 'foreign key', 'foreign keys'],
]

/** The schema changes as one line: by name up to three, counted by kind otherwise. */
export function summarize(steps: readonly SchemaStep[]): string {
  if (steps.length <= 3) return steps.map(describeStep).join(', ')
  const counts = counted.flatMap(([kind, one, many]) => {
    const count = steps.filter((step) => step.kind === kind).length
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]
  })
  const columns = columnsOfSeveral(steps)
  const others = steps
    .filter((step) => !counted.some(([kind]) => kind === step.kind))
    .filter((step) => step.kind !== 'addColumn' || !columns.has(step.column))
    .map(describeStep)
  const created = counts.length === 0 ? [] : [`created ${sentenceList(counts)}${renamings(steps)}`]
  const shownOthers = others.length <= 3 ? others : [...others.slice(0, 2), `${others.length - 2} more`]
  const added = [...columns].map(([column, several]) => {
    const isNull = several.some((step) => step.isNull)
    const tables = sentenceList(several.map(({ table }) => table))
    return `added column ${column} to ${tables}${isNull ? ', which is null in existing records' : ''}`
  })
  return [...created, ...added, ...shownOthers].join(', ')
}

/** The tables that may have been renamed, named beside the number of created tables. */
function renamings(steps: readonly SchemaStep[]): string {
  const texts = steps.flatMap((step) =>
    step.kind === 'createTable' && step.earlier ? [`${step.table}: ${renamedTable(step.earlier)}`] : [],
  )
  return texts.length === 0 ? '' : ` (${texts.join('; ')})`
}

type ColumnStep = Extract<SchemaStep, { kind: 'addColumn' }>

/** Columns of one name in several tables, such as the timestamps. All tables are named: they may be those of other programs. */
function columnsOfSeveral(steps: readonly SchemaStep[]): ReadonlyMap<string, readonly ColumnStep[]> {
  const added = Map.groupBy(
    steps.filter((step) => step.kind === 'addColumn'),
    ({ column }) => column,
  )
  return new Map([...added].filter(([, several]) => several.length > 1))
}
