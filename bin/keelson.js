#!/usr/bin/env node
// Node 12 and later can parse this file, so that an old Node prints which version is needed instead of a syntax error.
// biome-ignore-all lint/style/useNodejsImportProtocol: old versions do not support the protocol
const { spawn, spawnSync } = require('child_process')
const { existsSync } = require('fs')
const { enableCompileCache } = require('module')
const { basename, dirname, join } = require('path')
const { pathToFileURL } = require('url')

const minimumNode = 24
const root = join(__dirname, '..')
/** The repository installs its own Node as a development dependency. */
const nodePackage = join(root, 'node_modules', 'node')
const installedNode = join(nodePackage, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')

/** Beside the installed package: a program that can write there can change the package as well. */
const modules = basename(dirname(root)) === 'node_modules' ? dirname(root) : join(root, 'node_modules')
const compileCache = join(modules, '.cache', 'keelson')

const isSupported = (version) => Number(/^v(\d+)/.exec(version)[1]) >= minimumNode

if (isSupported(process.version)) run()
else if (hasInstalledNode()) runWithInstalledNode()
else printUnsupported()

/** Runs the sources in the repository, and the compiled files in the published package. */
function run() {
  if (process.argv[2] !== 'worker') exitWithParent()
  // Later starts do not compile again. Where the folder cannot be written, all do.
  enableCompileCache(compileCache)
  const isSource = existsSync(join(root, 'src', 'cli', 'main.ts'))
  const load = (name) => import(pathToFileURL(join(root, isSource ? `src/${name}.ts` : `dist/${name}.js`)).href)
  load('cli/main')
    .then(({ main }) => main(process.argv.slice(2), () => load('index')))
    .then((code) => {
      process.exitCode = code
      // A handle that is still open must not keep the process alive.
      setTimeout(() => process.exit(), 1000).unref()
    })
}

/** Stops when the parent process has ended without a signal, which closes the IPC channel. */
function exitWithParent() {
  if (!process.channel) return
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel.unref()
}

function hasInstalledNode() {
  if (!existsSync(installedNode)) return false
  const { status, stdout } = spawnSync(installedNode, ['--version'], { encoding: 'utf8' })
  return status === 0 && isSupported(stdout)
}

function runWithInstalledNode() {
  const child = spawn(installedNode, [__filename].concat(process.argv.slice(2)), {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends Ctrl+C to the child as well, and a second signal would stop it immediately.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  }
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 1))
}

function printUnsupported() {
  console.error(`Keelson needs Node ${minimumNode} or newer; this is Node ${process.versions.node}.`)
  console.error(advice())
  process.exitCode = 1
}

/** In the repository, npx uses the installed package even when its binary is missing, so it is not suggested there. */
function advice() {
  if (existsSync(nodePackage)) {
    return (
      'The node package of this repository has no binary, because npm is configured to ignore install scripts: ' +
      'run "npm rebuild node --ignore-scripts=false" or "npm ci --ignore-scripts=false".'
    )
  }
  if (existsSync(join(root, 'package-lock.json'))) {
    return (
      'Run "npm ci" here: it installs Node 26, which the command and all npm scripts use. ' +
      'Without installation: "npx --package=node@26 -- node bin/keelson.js".'
    )
  }
  return 'Install it from https://nodejs.org, or run once: "npx --package=node@26 --package=keelson -- keelson".'
}
