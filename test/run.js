// The entry point of `npm test` and `npm run test:all`. It is plain JavaScript of 2019 and loads everything else
// afterwards, so that a Node that is too old prints what is required instead of a syntax error.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const oldestNode = 24
const root = dirname(dirname(fileURLToPath(import.meta.url)))

if (Number(process.versions.node.split('.')[0]) < oldestNode) {
  console.error(`The tests need Node ${oldestNode} or newer; this is Node ${process.versions.node}.`)
  console.error(advice())
  process.exitCode = 1
} else {
  import('./runner/main.ts').then(({ main }) => main(process.argv.slice(2)))
}

/** The repository has a Node of its own as a development dependency; npm scripts use it. */
function advice() {
  const own = join(root, 'node_modules', 'node')
  if (!existsSync(own)) return 'Run "npm ci" first: it installs a Node that every npm script then uses.'
  if (existsSync(join(own, 'bin', process.platform === 'win32' ? 'node.exe' : 'node'))) {
    return 'Run them with "npm test", which uses the Node of this repository.'
  }
  return (
    'The Node of this repository was installed without its program, because install scripts are disabled: ' +
    'run "npm ci --ignore-scripts=false", or put a newer Node on the PATH.'
  )
}
