import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Command, CommandError, type ExitCode, exitCode } from '../command.ts'
import { PackageManifest } from '../init/package-manifest.ts'
import { configText, gitignoreText, tsconfigText } from '../init/project-files.ts'
import { detectSailsApplication, sailsConfigText } from '../init/sails-application.ts'
import { configNames } from '../load-config.ts'
import type { Output } from '../output.ts'

export const init: Command = {
  name: 'init',
  summary: 'Create a project in this folder. Existing files are not overwritten.',
  options: ['json'],
  examples: [
    ['mkdir shop && cd shop && keelson init', 'create a project'],
    ['keelson init && keelson dev', 'create a project and serve it'],
    ['cd sails-application && keelson init', 'write a configuration that serves its models'],
  ],

  async run(_options, { cwd, output }): Promise<ExitCode> {
    const existing = configNames.find((name) => existsSync(join(cwd, name)))
    if (existing !== undefined) throw new CommandError(`${existing} exists already and was not changed`)
    const manifest = new PackageManifest(cwd)
    const sails = detectSailsApplication(cwd)
    const created = [
      ...writeNew(join(cwd, 'keelson.config.ts'), sails ? sailsConfigText(sails) : configText),
      ...writeNew(join(cwd, 'tsconfig.json'), tsconfigText),
      ...writeNew(join(cwd, '.gitignore'), gitignoreText),
    ]
    const scripts = manifest.write()
    if (!manifest.exists) created.push('package.json')
    const addedScripts = manifest.exists ? scripts : []
    output.event({ event: 'created', files: created, scripts: addedScripts })
    printCreated(created, addedScripts, output)
    printNextSteps(manifest.exists, sails !== undefined, isIgnored(cwd, 'data'), output)
    return exitCode.ok
  },
}

/** Writes a file unless it exists. Returns its name when it was written. */
function writeNew(path: string, text: string): readonly string[] {
  try {
    writeFileSync(path, text, { flag: 'wx' })
    return [basename(path)]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return []
    throw error
  }
}

function printCreated(created: readonly string[], scripts: readonly string[], { line, paint }: Output): void {
  line()
  for (const name of created) line(`  ${paint('green', '+')} ${name}`)
  if (scripts.length > 0) line(`  ${paint('yellow', '~')} package.json: scripts ${scripts.join(', ')}`)
}

/** Whether a line of the `.gitignore` names the folder. */
const isIgnored = (cwd: string, name: string): boolean =>
  readFileSync(join(cwd, '.gitignore'), 'utf8')
    .split(/\r?\n/)
    .some((line) => line.trim().replace(/^\//, '').replace(/\/$/, '') === name)

function printNextSteps(hasManifest: boolean, isSails: boolean, ignoresData: boolean, { line, paint }: Output): void {
  const steps: readonly (readonly [command: string, effect: string])[] = [
    ...(hasManifest ? [] : [['npm install', 'install keelson and its types'] as const]),
    ...(ignoresData ? [] : [['echo data/ >> .gitignore', 'keep the SQLite database out of git'] as const]),
    ['npx keelson dev', 'serve the models and restart on changes'],
    isSails
      ? ['npx keelson routes', 'list the routes of the models']
      : ['curl http://localhost:1337/task', 'list the tasks; the list is empty'],
  ]
  line('\n  Next:')
  for (const [command, effect] of steps) line(`    ${paint('cyan', command.padEnd(34))}${effect}`)
  line()
}
