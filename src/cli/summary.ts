import type { JsonObject } from '../protocol/json.ts'
import { shown } from './explain-import.ts'
import type { Screen } from './screen.ts'

/** What there is to say of a service that has begun to serve. Plain data, so that a child can tell its parent. */
export interface Ready {
  readonly name: string
  readonly version: string
  readonly url: string
  readonly host: string
  readonly port: number
  readonly models: number
  readonly routes: number
  /** What the database is. */
  readonly database: string
  /** What was done to it. */
  readonly steps: readonly string[]
  readonly seeded: boolean
  /** Why the log of changes is not the whole truth, where it is not. */
  readonly caveat?: string | undefined
  /** How many processes serve; undefined: the one that says so. */
  readonly workers?: number
  readonly ms: number
}

export const readyEvent = (ready: Ready): JsonObject => {
  const { caveat, ...rest } = ready
  return { event: 'ready', ...rest, ...(caveat !== undefined && { caveat }) }
}

/** The first thing to see when it runs: what answers where, over what. */
export function showReady(ready: Ready, screen: Screen, footer: string): void {
  const { paint } = screen
  const head = `${paint('bold', 'keelson')} ${paint('dim', ready.version)}   ${paint('bold', ready.name)}`
  screen.line()
  screen.line(`  ${head}   ${paint('dim', `ready in ${duration(ready.ms)}`)}`)
  screen.line()
  for (const [label, text] of rowsOf(ready, screen)) screen.line(`  ${paint('dim', label.padEnd(10))}${text}`)
  screen.line()
  screen.line(`  ${paint('dim', footer)}`)
  screen.line()
}

function rowsOf(ready: Ready, { paint }: Screen): readonly (readonly [string, string])[] {
  return [
    ['Address', paint(['cyan', 'underline'], ready.url)],
    ['Models', `${ready.models} ${paint('dim', `· ${ready.routes} routes, listed by keelson routes`)}`],
    ...(ready.workers === undefined ? [] : [['Workers', String(ready.workers)] as const]),
    ['Database', shortPaths(ready.database)],
    ['Schema', summarize(ready.steps) || paint('dim', 'nothing to do')],
    ...(ready.seeded ? [['Seed', 'filled with the first records'] as const] : []),
    ...(ready.caveat === undefined ? [] : [['Log', paint('yellow', ready.caveat)] as const]),
  ]
}

export const duration = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`)

/** `SQLite 3.53 (/home/me/shop/data/app.db)`, with the file as it is said from here. */
const shortPaths = (description: string): string =>
  description.replace(/\((\/[^)]+|[A-Za-z]:\\[^)]+)\)$/, (_, path: string) => `(${shown(path)})`)

/** Kinds of steps that come by the dozen when a database is new. */
const kinds = [
  [/^created table /, 'table', 'tables'],
  [/^created (?:unique )?index /, 'index', 'indexes'],
  [/^linked /, 'foreign key', 'foreign keys'],
] as const

/** What was done to a schema, in a line: by name while they are few. */
export function summarize(steps: readonly string[]): string {
  if (steps.length <= 3) return steps.join(', ')
  const counted = kinds.flatMap(([pattern, one, many]) => {
    const count = steps.filter((step) => pattern.test(step)).length
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]
  })
  const others = steps.filter((step) => !kinds.some(([pattern]) => pattern.test(step)))
  const created = counted.length === 0 ? [] : [`created ${listed(counted)}`]
  const shownOthers = others.length <= 3 ? others : [...others.slice(0, 2), `${others.length - 2} more`]
  return [...created, ...shownOthers].join(', ')
}

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
