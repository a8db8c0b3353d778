import { existsSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Command, type ExitCode, exitCode, Refusal } from '../command.ts'
import { configNames } from '../load-config.ts'
import { version } from '../own-package.ts'
import type { Screen } from '../screen.ts'

export const init: Command = {
  name: 'init',
  summary: 'Write a first configuration into this folder.',
  options: ['json'],
  examples: [
    ['mkdir shop && cd shop && keelson init', 'a new project'],
    ['keelson init && keelson dev', 'and serve it at once'],
  ],

  async run(_given, { cwd, screen }): Promise<ExitCode> {
    const there = configNames.find((name) => existsSync(join(cwd, name)))
    if (there !== undefined) throw new Refusal(`${there} is here already, and stays as it is`)
    const written = [
      ...writeNew(join(cwd, 'keelson.config.ts'), configText),
      ...writeNew(join(cwd, 'package.json'), packageText(cwd)),
    ]
    screen.event({ event: 'written', files: written })
    tellNext(written, screen)
    return exitCode.ok
  },
}

/** Answers the name of the file if it was not there. */
function writeNew(path: string, text: string): readonly string[] {
  try {
    writeFileSync(path, text, { flag: 'wx' })
    return [basename(path)]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return []
    throw error
  }
}

function tellNext(written: readonly string[], { line, paint }: Screen): void {
  line()
  for (const name of written) line(`  ${paint('green', '+')} ${name}`)
  line()
  line('  Next:')
  line(`    ${paint('cyan', 'npx keelson dev')}                    serve it, and follow every change of the models`)
  line(`    ${paint('cyan', 'curl http://localhost:1337/task')}    ask for the tasks; there are none yet`)
  line(`    ${paint('cyan', 'npm install')}                        for the types in your editor`)
  line()
}

const packageText = (folder: string): string =>
  `${JSON.stringify(
    {
      name: packageName(basename(folder)),
      private: true,
      type: 'module',
      scripts: { start: 'keelson start', dev: 'keelson dev' },
      dependencies: { keelson: `^${version()}` },
    },
    null,
    2,
  )}\n`

/** What npm takes for a name, out of whatever the folder is called. */
const packageName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|-+$/g, '') || 'service'

const configText = `import { defineConfig } from 'keelson'

export default defineConfig({
  // Where the records are. DATABASE_URL in the environment goes before it; postgres://user@host/name works as well.
  database: 'sqlite:data/app.db',

  // Every model is a table. \`id\`, \`createdAt\` and \`updatedAt\` come by themselves.
  models: {
    task: {
      attributes: {
        title: { type: 'string', required: true, maxLength: 200 },
        done: { type: 'boolean', defaultsTo: false },
        dueAt: { type: 'datetime' },
        person: { model: 'person' },
      },
    },

    person: {
      attributes: {
        name: { type: 'string', required: true },
        email: { type: 'string', isEmail: true, unique: true },
        // The other side of task.person.
        tasks: { collection: 'task', via: 'person' },
      },
    },
  },
})
`
