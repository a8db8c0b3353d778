import { posix } from 'node:path'

/** The floors, from the ground up; folders on one floor are strangers, but for those that are named together. */
const floors: readonly (readonly string[])[] = [
  ['protocol', 'support'],
  ['model'],
  ['sql'],
  ['criteria'],
  ['storage', 'realtime'],
  ['operation'],
  ['service'],
  ['transport'],
  ['cli', 'conformance'],
  [''],
]
/** Rooms of a folder that do not see each other. */
const rooms = ['storage/sqlite', 'storage/postgres', 'storage/memory', 'transport/http', 'transport/socket']
/** Lists, and the members that nobody else may import. */
const lists: readonly (readonly [list: string, members: RegExp])[] = [
  ['operation/operations.ts', /^operation\/(find|find-one|create|update|destroy|populate|add|remove|replace)\.ts$/],
  ['cli/commands.ts', /^cli\/commands\//],
  ['transport/http/parse-body.ts', /^transport\/http\/body\/(json|form|multipart|xml)\.ts$/],
]

const floorOf = (file: string): number => floors.findIndex((floor) => floor.includes(folderOf(file)))
const folderOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '')

/** What a set of source files does that the plan of the house forbids. Names are relative to `src/`. */
export function breaches(sources: ReadonlyMap<string, string>): readonly string[] {
  return [...sources].flatMap(([file, text]) => [
    ...(/^export default /m.test(text.replace(/`[^`]*`/gs, '')) ? [`${file} has a default export`] : []),
    ...importsOf(text).flatMap((specifier) => breachOf(file, specifier)),
  ])
}

function importsOf(text: string): readonly string[] {
  const found = text.matchAll(/^(?:import|export)\b[^'"`;]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm)
  return [...found].map((match) => (match[1] ?? match[2] ?? match[3]) as string)
}

function breachOf(file: string, specifier: string): readonly string[] {
  if (!specifier.startsWith('.')) {
    return file.startsWith('protocol/') && specifier.startsWith('node:')
      ? [`${file} imports ${specifier}: protocol knows no Node`]
      : []
  }
  const target = posix.join(posix.dirname(file), specifier)
  const [from, to] = [floorOf(file), floorOf(target)]
  if (from < 0 || to < 0) return [`${from < 0 ? file : target} stands on no floor`]
  if (to > from) return [`${file} imports upwards: ${target}`]
  const isGround = from === 0
  if (to === from && folderOf(file) !== folderOf(target) && !isGround)
    return [`${file} imports ${target}, a stranger on its floor`]
  if (file.startsWith('protocol/') && target.startsWith('support/'))
    return [`${file} imports ${target}: protocol stands on nothing`]
  const [room, other] = [file, target].map((name) => rooms.find((room) => name.startsWith(`${room}/`)))
  if (room && other && room !== other) return [`${file} imports ${target} of another room`]
  const list = lists.find(([list, members]) => members.test(target) && file !== list)
  return list && !file.endsWith('.test.ts') ? [`${file} imports ${target}, which only ${list[0]} may`] : []
}
