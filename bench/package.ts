import { spawnSync } from 'node:child_process'
import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { models } from './data.ts'

const root = join(import.meta.dirname, '..')

/** Installs the packed package into a new folder. Returns the path of its program. */
export function installPackage(folder: string): string {
  const { status } = spawnSync(process.execPath, [join(root, 'build.js'), join(folder, 'dist')], { stdio: 'inherit' })
  if (status !== 0) throw new Error('The sources do not compile')
  for (const name of ['bin', 'package.json']) cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return join(folder, 'bin', 'keelson.js')
}

/** Writes a configuration with the models of the benchmarks and a database of its own into the folder. Returns its path. */
export function writeConfig(folder: string, port: number): string {
  const config = join(folder, 'keelson.config.js')
  const database = `sqlite:${join(folder, 'start.db')}`
  writeFileSync(config, `export default ${JSON.stringify({ database, models, port, host: '127.0.0.1' })}\n`)
  return config
}
