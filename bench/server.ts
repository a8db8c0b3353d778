import { join } from 'node:path'
import { Child } from './child.ts'
import { freePort } from './free-port.ts'

const serverCpu = 0
export const loadCpu = 1

export interface Started extends AsyncDisposable {
  readonly process: Child
  readonly port: number
}

/** A server of this folder in a process of its own; it is started with `arguments PORT more`. */
export async function startServer(
  file: string,
  args: readonly string[],
  nodeOptions: readonly string[] = [],
  more: readonly string[] = [],
): Promise<Started> {
  const port = await freePort()
  const process = await Child.start(serverCpu, nodeOptions, join(import.meta.dirname, file), [
    ...args,
    String(port),
    ...more,
  ])
  return { process, port, [Symbol.asyncDispose]: () => process[Symbol.asyncDispose]() }
}

export const profiling = (folder: string | undefined, name: string): readonly string[] =>
  folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(folder, name)}`]
