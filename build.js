import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { parseArgs } from 'node:util'
import { rolldown } from 'rolldown'

/*
 * Makes the published files: declarations by TypeScript, and the sources joined into a few files, because a service that
 * starts from hundreds of files takes twice as long and holds more memory. Names and line breaks stay, for stack traces.
 */

const usage = 'node build.js [FOLDER]   Builds into FOLDER, which is emptied before; without it into dist.'
const root = import.meta.dirname
const outdir = givenFolder() ?? join(root, 'dist')
rmSync(outdir, { recursive: true, force: true })

const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const compilerOptions = ['--project', join(root, 'tsconfig.build.json'), '--outDir', outdir]
const { status } = spawnSync(process.execPath, [compiler, ...compilerOptions], { stdio: 'inherit' })
if (status !== 0) process.exit(1)

const source = (name) => join(root, 'src', name)
const entries = (...names) => Object.fromEntries(names.map((name) => [name.replace(/\.ts$/, ''), source(name)]))
const reader = 'storage/sqlite/client/reader-main.ts'

/** Functions for syntax that older versions of Node lack, which the bundler has. */
const helpers = '@oxc-project/runtime/'

const shared = {
  cwd: root,
  logLevel: 'warn',
  tsconfig: false,
  external: (id) => !id.startsWith('.') && !isAbsolute(id) && !id.startsWith(helpers),
  plugins: [{ name: 'ascii', generateBundle: inAscii }],
}
const output = { format: 'esm', comments: false }
const joined = { ...output, dir: outdir, chunkFileNames: 'shared/[name]-[hash].js' }

// What several entry points share stands in files of its own, so that all of them have the same classes.
const forNode = await rolldown({
  ...shared,
  platform: 'node',
  // An older version can parse it, and says which one is needed.
  transform: { target: 'node20' },
  input: entries('index.ts', 'conformance.ts', 'cli/main.ts', reader),
})
const inService = reachableFrom('index.ts')
const inReader = reachableFrom(reader)
const inSqlite = reachableFrom('storage/sqlite/open.ts')
/**
 * One file each: a service on SQLite loads all four when it starts, and a reader process `common` and `reader`. A module is in the
 * first group that has it. What `index.ts` loads does not import `node:sqlite`, or an older version of Node would fail before it
 * says which one is needed.
 */
const groups = [
  ['common', (id, modules) => inService(id, modules) && inReader(id, modules)],
  ['service', inService],
  // Without the program itself, which begins when it is loaded.
  ['reader', (id, modules) => inReader(id, modules) && id !== source(reader)],
  ['sqlite', inSqlite],
]
await forNode.write({
  ...joined,
  codeSplitting: {
    groups: groups.map(([name, has], index) => ({
      debugName: name,
      name: (id, modules) => (has(id, modules) ? name : null),
      priority: groups.length - index,
    })),
  },
})

const forPages = { ...shared, platform: 'neutral', transform: { target: 'es2022' } }
const client = await rolldown({ ...forPages, input: entries('client.ts', 'react.ts') })
await client.write(joined)
/** The client for pages without a bundler. */
const page = await rolldown({ ...forPages, input: source('client.ts') })
await page.write({ ...output, file: join(outdir, 'keelson.js'), minify: true })

/** Tells of a module whether it is one of `names`, or one that these import when they are loaded. */
function reachableFrom(...names) {
  const reachable = new Set(names.map(source))
  let isComplete = false
  return (id, modules) => {
    // The set grows while it is iterated. What a module imports is known when the files are divided.
    if (!isComplete)
      for (const module of reachable)
        for (const imported of modules.getModuleInfo(module)?.importedIds ?? []) reachable.add(imported)
    isComplete = true
    return reachable.has(id)
  }
}

/** V8 keeps a source with one character beyond Latin-1 in two bytes for each. Such characters stand in strings and patterns. */
function inAscii(_options, files) {
  for (const file of Object.values(files))
    file.code = file.code.replaceAll(
      /[\u0080-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
}

/** Ends the process for `--help`, and for a command line that is wrong: what it names would be emptied. */
function givenFolder() {
  try {
    const options = { help: { type: 'boolean', short: 'h' } }
    const { values, positionals } = parseArgs({ options, allowPositionals: true })
    const [folder] = positionals
    if (values.help) {
      console.log(usage)
      process.exit(0)
    }
    if (positionals.length > 1) throw new Error(`More than one folder: ${positionals.join(', ')}`)
    if (folder !== undefined && !mayBeEmptied(folder))
      throw new Error(`${folder} has other files than those of a build`)
    return folder
  } catch (error) {
    console.error(`${error.message}\n${usage}`)
    process.exit(2)
  }
}

function mayBeEmptied(folder) {
  return !existsSync(folder) || readdirSync(folder).length === 0 || existsSync(join(folder, 'keelson.js'))
}
