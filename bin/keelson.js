#!/usr/bin/env node
// Any Node from 12 on can read this file, so that one that is too old hears what it needs instead of failing over a
// word it does not know.
// biome-ignore-all lint/style/useNodejsImportProtocol: old versions do not know the protocol
const { spawn, spawnSync } = require('child_process')
const { existsSync } = require('fs')
const { join } = require('path')
const { pathToFileURL } = require('url')

const oldestNode = 24
const root = join(__dirname, '..')
/** A repository has a Node of its own, as a development dependency. */
const ownPackage = join(root, 'node_modules', 'node')
const ownNode = join(ownPackage, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')

const isFit = (version) => Number(/^v(\d+)/.exec(version)[1]) >= oldestNode

if (isFit(process.version)) run()
else if (hasFitNode()) runAgain()
else refuse()

/** The sources as they are in a repository, and what was made of them in a published package. */
function run() {
  if (process.argv[2] !== 'worker') endWithTheParent()
  const isSource = existsSync(join(root, 'src', 'cli', 'main.ts'))
  const load = (name) => import(pathToFileURL(join(root, isSource ? `src/${name}.ts` : `dist/${name}.js`)).href)
  load('cli/main')
    .then(({ main }) => main(process.argv.slice(2), () => load('index')))
    .then((code) => {
      process.exitCode = code
      // Should anything be left open, it does not keep us.
      setTimeout(() => process.exit(), 1000).unref()
    })
}

/** A parent that keeps a channel to us and is gone, however it ended, can no longer tell us to stop. */
function endWithTheParent() {
  if (!process.channel) return
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel.unref()
}

function hasFitNode() {
  if (!existsSync(ownNode)) return false
  const { status, stdout } = spawnSync(ownNode, ['--version'], { encoding: 'utf8' })
  return status === 0 && isFit(stdout)
}

function runAgain() {
  const child = spawn(ownNode, [__filename].concat(process.argv.slice(2)), {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // Ctrl+C in a terminal reaches the child by itself, and twice would mean "at once".
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  }
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 1))
}

function refuse() {
  console.error(`Keelson needs Node ${oldestNode} or newer, and this is Node ${process.versions.node}.`)
  console.error(advice())
  process.exitCode = 1
}

/** Each of these was tried. In a repository npx takes the package that is there, though its program is missing. */
function advice() {
  if (existsSync(ownPackage)) {
    return (
      'The Node that belongs to this repository came without its program, because install scripts are switched off: ' +
      'run "npm rebuild node --ignore-scripts=false" or "npm ci --ignore-scripts=false".'
    )
  }
  if (existsSync(join(root, 'package-lock.json'))) {
    return (
      'Run "npm ci" here: it brings a Node 26 that the command and every npm script then use. ' +
      'Without installing: "npx --package=node@26 -- node bin/keelson.js".'
    )
  }
  return 'Get it from https://nodejs.org, or for once: "npx --package=node@26 --package=keelson -- keelson".'
}
