import { spawnSync } from 'node:child_process'

/** Compiles the files without running them. The first error is not caught: Node prints its location only then. */
const program = `
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { SourceTextModule } from 'node:vm'
for (const file of process.argv.slice(1)) {
  const text = readFileSync(file, 'utf8')
  new SourceTextModule(/\\.[cm]?ts$/.test(file) ? stripTypeScriptTypes(text) : text, { identifier: file })
}`

const timeoutMs = 10_000

/**
 * The first syntax error of these ES modules as Node prints it: the file, the line, the source and the message. The error
 * of an import names neither the file nor the line.
 */
export function findSyntaxError(files: readonly string[]): string {
  const flags = ['--experimental-vm-modules', '--no-warnings', '--input-type=module']
  const { NODE_OPTIONS: _, ...env } = process.env
  const { stderr } = spawnSync(process.execPath, [...flags, '--eval', program, '--', ...files], {
    encoding: 'utf8',
    env,
    timeout: timeoutMs,
  })
  return stderr ?? ''
}
