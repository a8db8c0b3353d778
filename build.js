import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'

/*
 * Makes the published files: declarations by TypeScript, and the sources joined into a few files, because a service that
 * starts from hundreds of files takes twice as long and holds more memory. Names and line breaks stay, for stack traces.
 */

const usage = 'node build.js [FOLDER]   Builds into FOLDER, which is emptied before; without it into dist.'
const root = import.meta.dirname
const outdir = givenFolder() ?? join(root, 'dist')
rmSync(outdir, { recursive: true, force: true })

const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const options = ['--project', join(root, 'tsconfig.build.json'), '--outDir', outdir]
const { status } = spawnSync(process.execPath, [compiler, ...options], { stdio: 'inherit' })
if (status !== 0) process.exit(1)

const source = (name) => join(root, 'src', name)
const shared = { bundle: true, format: 'esm', packages: 'external', absWorkingDir: root, logLevel: 'warning' }
/** What several entry points share stands in files of its own, so that all of them have the same classes. */
const joined = { ...shared, splitting: true, outbase: source(''), outdir, chunkNames: 'shared/[name]-[hash]' }

await build({
  ...joined,
  platform: 'node',
  target: 'node24',
  entryPoints: ['index.ts', 'conformance.ts', 'cli/main.ts', 'storage/sqlite/client/reader-main.ts'].map(source),
})
await build({ ...joined, platform: 'neutral', target: 'es2022', entryPoints: ['client.ts', 'react.ts'].map(source) })
/** The client for pages without a bundler. */
await build({
  ...shared,
  platform: 'neutral',
  target: 'es2022',
  minify: true,
  entryPoints: [source('client.ts')],
  outfile: join(outdir, 'keelson.js'),
})

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
