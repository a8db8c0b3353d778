import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** An installed Node that is older than the minimum; undefined when there is none. */
export const oldNode = ['/usr/bin/node', '/usr/local/bin/node', ...nodesOnPath()].find((path) => isOlder(path))

/** Skips tests where no older Node is installed. */
export const withOldNode = {
  skip: oldNode === undefined && 'no Node older than 24 is installed on this machine',
}

function nodesOnPath(): readonly string[] {
  return (process.env.PATH ?? '').split(':').map((path) => join(path, 'node'))
}

function isOlder(path: string): boolean {
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
  return Number(/^v(\d+)/.exec(stdout ?? '')?.[1] ?? 99) < 24
}
