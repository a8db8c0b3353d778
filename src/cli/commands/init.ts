import { existsSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Command, CommandError, type ExitCode, exitCode, UsageError } from '../command.ts'
import type { DatabaseProject } from '../init/database-project.ts'
import { PackageManifest } from '../init/package-manifest.ts'
import { planEvent, printPlan } from '../init/print-plan.ts'
import { configText, gitignoreText, tsconfigText } from '../init/project-files.ts'
import { readIfExists } from '../init/read-if-exists.ts'
import { detectSailsApplication, sailsConfigText } from '../init/sails-application.ts'
import { oneLine } from '../init/source-text.ts'
import { unwritable } from '../init/unwritable.ts'
import { configNames } from '../load-config.ts'
import type { Output } from '../output.ts'

export const init: Command = {
  name: 'init',
  summary: 'Create a project in this folder, also for an existing database. Existing files are not overwritten.',
  options: ['database', 'tables', 'json'],
  examples: [
    ['mkdir shop && cd shop && keelson init', 'create a project'],
    ['keelson init && keelson dev', 'create a project and serve it'],
    ['keelson init --database sqlite:shop.db', 'write models for the tables of a database, which is not changed'],
    ['cd sails-application && keelson init', 'write a configuration that serves its models'],
  ],

  async run({ database, tables }, { cwd, output }): Promise<ExitCode> {
    const existing = configNames.find((name) => existsSync(join(cwd, name)))
    if (existing !== undefined) throw new CommandError(`${existing} exists already and was not changed`)
    const manifest = new PackageManifest(cwd)
    const ignored = readIfExists(join(cwd, '.gitignore')) ?? gitignoreText
    const project = await databaseProjectOf(database, tables, cwd)
    const sails = project ? undefined : detectSailsApplication(cwd)
    const config = project?.configText ?? (sails ? sailsConfigText(sails) : configText)
    const created = [
      ...writeNew(join(cwd, 'keelson.config.ts'), config),
      ...writeNew(join(cwd, 'tsconfig.json'), tsconfigText),
      ...writeNew(join(cwd, '.gitignore'), gitignoreText),
    ]
    const scripts = manifest.write()
    if (!manifest.exists) created.push('package.json')
    const addedScripts = manifest.exists ? scripts : []
    output.event({ event: 'created', files: created, scripts: addedScripts, ...(project && planEvent(project.plan)) })
    printCreated(created, addedScripts, output)
    if (project) printPlan(project.plan, output)
    const steps = project
      ? stepsWithDatabase(project)
      : stepsWithModels(sails !== undefined, isIgnored(ignored, 'data'))
    printNextSteps(
      [
        ...(manifest.exists ? [] : [project?.isPostgres ? installWithDriver : install]),
        ...(manifest.hasTypeScript ? [] : [installTypeScript]),
        ...(manifest.isCommonJs && !sails ? [becomeModule] : []),
        ...steps,
      ],
      output,
    )
    return exitCode.ok
  },
}

/** The import is lazy, because it loads the models and the databases. */
async function databaseProjectOf(
  database: string | undefined,
  tables: string | undefined,
  cwd: string,
): Promise<DatabaseProject | undefined> {
  if (database !== undefined)
    return (await import('../init/database-project.ts')).databaseProject(database, tables, cwd)
  if (tables !== undefined) throw new UsageError('--tables needs --database, whose tables it names')
  return undefined
}

/** Writes a file unless it exists. Returns its name when it was written. */
function writeNew(path: string, text: string): readonly string[] {
  try {
    writeFileSync(path, text, { flag: 'wx' })
    return [basename(path)]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return []
    throw unwritable(path, error)
  }
}

function printCreated(created: readonly string[], scripts: readonly string[], { line, paint }: Output): void {
  line()
  for (const name of created) line(`  ${paint('green', '+')} ${name}`)
  if (scripts.length > 0) line(`  ${paint('yellow', '~')} package.json: scripts ${scripts.join(', ')}`)
}

/** Whether a line of a `.gitignore` names the folder. */
const isIgnored = (text: string, name: string): boolean =>
  text.split(/\r?\n/).some((line) => line.trim().replace(/^\//, '').replace(/\/$/, '') === name)

type Step = readonly [command: string, effect: string]

const install: Step = ['npm install', 'install keelson and its types']
const installWithDriver: Step = ['npm install pg', 'install keelson, its types and the driver of PostgreSQL']
const installTypeScript: Step = ['npm install -D typescript', 'npx tsc then checks the types; Node does not']
const becomeModule: Step = ['npm pkg set type=module', 'programs can then import keelson.config.ts, too']
const listRoutes: Step = ['npx keelson routes', 'list the routes of the models']

const stepsWithModels = (isSails: boolean, ignoresData: boolean): readonly Step[] => [
  ...(ignoresData ? [] : [['echo data/ >> .gitignore', 'keep the SQLite database out of git'] as const]),
  ['npx keelson dev', 'serve the models and restart on changes'],
  isSails ? listRoutes : ['curl http://localhost:1337/task', 'list the tasks; the list is empty'],
]

const stepsWithDatabase = ({ plan, needsPassword }: DatabaseProject): readonly Step[] => [
  ...(needsPassword
    ? [['export DATABASE_URL=…', 'the URL with the password, which is not in the configuration'] as const]
    : []),
  ['npx keelson dev', 'serve the models and restart on changes'],
  ...plan.models
    .slice(0, 1)
    .map(
      ({ name, table }) => [`curl http://localhost:1337/${name}`, `list the rows of ${oneLine(table.name)}`] as const,
    ),
  listRoutes,
]

function printNextSteps(steps: readonly Step[], { line, paint }: Output): void {
  const width = Math.max(...steps.map(([command]) => command.length)) + 3
  line('\n  Next:')
  for (const [command, effect] of steps) line(`    ${paint('cyan', command.padEnd(width))}${effect}`)
  line()
}
