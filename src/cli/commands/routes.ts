import { type ModelRoutes, routesOf } from '../../service/model-routes.ts'
import { type Command, type ExitCode, exitCode, UsageError } from '../command.ts'
import type { Screen } from '../screen.ts'
import { readSettings } from '../settings.ts'
import { didYouMean } from '../suggest.ts'

export const routes: Command = {
  name: 'routes',
  summary: 'List every address that is served. No database is opened.',
  options: ['config', 'model', 'json', 'verbose'],
  examples: [
    ['keelson routes', 'all of them, model by model'],
    ['keelson routes --model pet --json', 'those of one model, one JSON object a line'],
  ],

  async run(given, program): Promise<ExitCode> {
    const { config } = await readSettings(given, program)
    const all = await routesOf(config)
    const wanted = given.model === undefined ? all : [oneOf(all, given.model)]
    for (const { model, lines } of wanted) {
      for (const line of lines) program.screen.event({ model: model.name, ...line })
    }
    showRoutes(wanted, program.screen)
    return exitCode.ok
  },
}

/** Throws a UsageError when there is no such model. */
function oneOf(all: readonly ModelRoutes[], name: string): ModelRoutes {
  const found = all.find(({ model }) => model.name.toLowerCase() === name.toLowerCase())
  if (found) return found
  const names = all.map(({ model }) => model.name)
  throw new UsageError(
    `There is no model "${name}"`,
    didYouMean(name, names, (name) => `--model ${name}`),
  )
}

const methodColors = { GET: 'green', POST: 'yellow', PUT: 'blue', PATCH: 'blue', DELETE: 'red' } as const

function showRoutes(all: readonly ModelRoutes[], { line, paint }: Screen): void {
  const widest = Math.max(...all.flatMap(({ lines }) => lines.map(({ path }) => path.length)))
  for (const { model, lines } of all) {
    const associations = [...model.associations.keys()]
    const note = associations.length === 0 ? '' : `   ${paint('dim', `:association is ${associations.join(', ')}`)}`
    line(`\n  ${paint('bold', model.name)}${note}`)
    for (const { method, path, operation, style } of lines) {
      const color = methodColors[method as keyof typeof methodColors] ?? 'reset'
      const kind = style === 'shortcut' ? ' · shortcut' : ''
      line(`    ${paint(color, method.padEnd(6))}  ${path.padEnd(widest)}   ${paint('dim', `${operation}${kind}`)}`)
    }
  }
  const count = all.reduce((sum, { lines }) => sum + lines.length, 0)
  line(`\n  ${paint('dim', `${count} routes of ${all.length} model${all.length === 1 ? '' : 's'}`)}\n`)
}
