import { actionLines, type ModelRoutes, routesByModel, servedRoutes } from '../../service/dispatch/model-routes.ts'
import type { RouteLine } from '../../service/dispatch/routes.ts'
import { type Command, type ExitCode, exitCode } from '../command.ts'
import { modelNamed } from '../model-named.ts'
import type { Output } from '../output.ts'
import { readSettings, withoutUnsetDatabase } from '../settings.ts'

export const routes: Command = {
  name: 'routes',
  summary: 'List all routes. The database is not opened.',
  options: ['config', 'model', 'json', 'verbose'],
  examples: [
    ['keelson routes', 'all routes, grouped by model'],
    ['keelson routes --model pet --json', 'the routes of one model, one JSON object per line'],
  ],

  async run(options, context): Promise<ExitCode> {
    const { config } = await readSettings(options, context)
    const routes = await servedRoutes(withoutUnsetDatabase(config))
    const all = routesByModel(routes)
    const selected = options.model === undefined ? all : [modelNamed(options.model, all, ({ model }) => model.name)]
    for (const { model, lines } of selected) {
      for (const line of lines) context.output.event({ model: model.name, ...line })
    }
    const ofService = options.model === undefined ? [...actionLines(routes, undefined), ...routes.endpoints] : []
    for (const line of ofService) context.output.event({ ...line })
    printRoutes(selected, ofService, context.output)
    return exitCode.ok
  },
}

const conditions = { list: 'a list as the body', where: '?where=', upsert: '?upsert=' } as const
const methodColors = { GET: 'green', POST: 'yellow', PUT: 'blue', PATCH: 'blue', DELETE: 'red' } as const

function printRoutes(all: readonly ModelRoutes[], ofService: readonly RouteLine[], { line, paint }: Output): void {
  const widest = Math.max(...[...all.flatMap(({ lines }) => lines), ...ofService].map(({ path }) => path.length))
  const printLines = (lines: readonly RouteLine[]) => {
    for (const { method, path, operation, style, when } of lines) {
      const color = methodColors[method as keyof typeof methodColors] ?? 'reset'
      const kind = style === 'shortcut' ? ' · shortcut' : when === undefined ? '' : ` · with ${conditions[when]}`
      line(`    ${paint(color, method.padEnd(6))}  ${path.padEnd(widest)}   ${paint('dim', `${operation}${kind}`)}`)
    }
  }
  for (const { model, lines } of all) {
    const associations = [...model.associations.keys()]
    const note = associations.length === 0 ? '' : `   ${paint('dim', `:association is ${associations.join(', ')}`)}`
    line(`\n  ${paint('bold', model.name)}${note}`)
    printLines(lines)
  }
  if (ofService.length > 0) {
    line(`\n  ${paint('bold', 'service')}`)
    printLines(ofService)
  }
  const count = all.reduce((sum, { lines }) => sum + lines.length, ofService.length)
  line(`\n  ${paint('dim', `${count} routes of ${all.length} model${all.length === 1 ? '' : 's'}`)}\n`)
}
