import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative, sep } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { oldNode, withOldNode } from '../support/old-node.ts'
import { LocalRegistry } from './package/local-registry.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const { DATABASE_URL, NODE_TEST_CONTEXT, NODE_COMPILE_CACHE, ...inherited } = process.env
/** Commands run on the Node of the tests, and without their compile cache, which a first start does not have. */
const env = { ...inherited, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` }

interface Packed {
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

interface InstalledPackage {
  readonly version: string
  readonly hasInstallScript?: boolean
}

describe('the packed and installed package', () => {
  let folder: string
  let packed: Packed
  let registry: LocalRegistry
  /** A folder in which `npm init -y && npm install keelson` was run. */
  let project: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keelson-package-'))
    packed = await pack(folder)
    registry = await LocalRegistry.start(root, join(folder, packed.filename), folder)
    project = join(folder, 'project')
    await mkdir(project)
    await run('npm', ['init', '-y'], { cwd: project, env })
    const options = ['--no-audit', '--no-fund', '--registry', registry.url, '--cache', join(folder, 'cache')]
    await npm(project, 'install', 'keelson', ...options)
  })
  after(async () => {
    await registry?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  test('contains compiled files and types, and no sources or tests', (t) => {
    const paths = packed.files.map(({ path }) => path)
    const unexpected = paths.filter(
      (path) => !/^(bin|dist)\/|^docs\/[\w-]+\.md$|^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/.test(path),
    )
    assert.deepEqual(unexpected, [])
    assert.deepEqual(
      paths.filter((path) => /\.test\.|\.types\.|[^d]\.ts$/.test(path)),
      [],
    )
    for (const path of ['bin/keelson.js', 'dist/index.js', 'dist/index.d.ts', 'dist/keelson.js', 'docs/README.md'])
      assert.ok(paths.includes(path), `${path} is missing`)
    t.diagnostic(`${kilobytes(packed.size)} packed, ${kilobytes(packed.unpackedSize)} unpacked, ${paths.length} files`)
  })

  test('has few dependencies, without install scripts and native code', async (t) => {
    const lock = JSON.parse(await readFile(join(project, 'node_modules', '.package-lock.json'), 'utf8'))
    const installed = Object.entries<InstalledPackage>(lock.packages)
    const names = installed.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')} ${version}`)
    t.diagnostic(names.join(', '))
    assert.ok(installed.length <= 32, names.join(', '))
    assert.deepEqual(
      installed.filter(([, { hasInstallScript }]) => hasInstallScript),
      [],
    )
    const native = (await filesIn(join(project, 'node_modules'))).filter((file) =>
      /\.(node|so|dylib|dll|wasm)$|binding\.gyp$/.test(file),
    )
    assert.deepEqual(native, [])
  })

  test('provides types', async () => {
    await writeFile(
      join(project, 'use.mts'),
      `import { createService, type Json, ServiceError } from 'keelson'
const service = await createService({ database: 'memory:', models: { pet: { attributes: { name: { type: 'string', required: true } } } } })
const name: string = (await service.system.records.pet.create({ name: 'Rex' })).name
// @ts-expect-error a name is a text
service.system.records.pet.create({ name: 1 })
export const told: readonly [Json, typeof ServiceError] = [name, ServiceError]
`,
    )
    const options = '--noEmit --strict --module nodenext --target es2024 --lib es2024,esnext.disposable --types node'
    const typeRoots = join(root, 'node_modules', '@types')
    assert.equal(await typeErrors(project, ...options.split(' '), '--typeRoots', typeRoots, 'use.mts'), '')
  })

  test('prints the version that it needs when it is imported on an older Node', withOldNode, async () => {
    const args = ['--input-type=module', '--eval', "import 'keelson'"]
    const { stderr } = await run(oldNode as string, args, { cwd: project }).catch((error) => error)
    assert.match(stderr, /\nError: Keelson needs Node 24 or newer; this is Node \d+\.\d+\.\d+\n/)
  })

  test('npx keelson init && npx keelson dev serve a project', async (t) => {
    await run('npx', ['keelson', 'init'], { cwd: project, env })
    await writeFile(
      join(project, 'main.mts'),
      `import { createService } from 'keelson'\nconsole.log(typeof createService, await fetch('data:,text'))\n`,
    )
    assert.equal(await typeErrors(project, '--project', '.'), '')

    const startedAt = performance.now()
    await using dev = new Npx(project, ['keelson', 'dev', '--json'])
    const { url } = await dev.event('ready')
    const response = await fetch(`${url}/task`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'Feed the cat' }),
    })
    assert.equal(response.status, 201)
    const script = await (await fetch(`${url}/keelson.js`)).text()
    assert.ok(script.length < 30_000 && /export\s*\{[^}]*createClient/.test(script), 'the client as one script')
    t.diagnostic(`${Math.round(performance.now() - startedAt)} ms from the command to the first response`)

    // An imported model in a file of its own, which is saved while the service runs.
    const config = join(project, 'keelson.config.ts')
    await writeFile(
      join(project, 'note.ts'),
      "export const note = { attributes: { text: { type: 'string' } } } as const\n",
    )
    const text = await readFile(config, 'utf8')
    await writeFile(config, `import { note } from './note.ts'\n${text.replace('models: {', 'models: {\n    note,')}`)
    await dev.event('changed')
    assert.deepEqual(await (await fetch(`${url}/note`)).json(), [])
    const [task] = (await (await fetch(`${url}/task`)).json()) as readonly { readonly title: string }[]
    assert.equal(task?.title, 'Feed the cat')
    assert.equal(await typeErrors(project, '--project', '.'), '')
  })

  test('npm start serves it and stops on SIGTERM', async () => {
    const { scripts } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'))
    assert.equal(scripts.start, 'keelson start')
    await using server = new Npx(project, ['keelson', 'start', '--json'])
    await server.event('ready')
    server.stop()
    await server.event('stopped')
  })

  test('what a start has compiled is kept for later ones', async () => {
    const files = await filesIn(join(project, 'node_modules', '.cache', 'keelson'))
    assert.ok(files.length > 10, files.join(', '))
  })
})

/** A command that npx runs, in a process group of its own, with the JSON lines that it prints. */
class Npx implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #exit: Promise<unknown>
  readonly #lines: AsyncIterator<string>

  constructor(cwd: string, args: readonly string[]) {
    this.#child = spawn('npx', args, {
      cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...env, PORT: '0' },
    })
    this.#exit = once(this.#child, 'exit')
    this.#lines = createInterface({ input: this.#child.stdout as Readable })[Symbol.asyncIterator]()
  }

  /** Resolves with the next event of this name. */
  async event(name: string): Promise<{ readonly url: string }> {
    for (;;) {
      const { value, done } = await this.#lines.next()
      assert.ok(!done, `the command ended before "${name}"`)
      const event = JSON.parse(value)
      if (event.event === name) return event
    }
  }

  stop(): void {
    process.kill(-(this.#child.pid as number), 'SIGTERM')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.stop()
    await this.#exit
  }
}

/** The output of `tsc`, which is empty without errors. */
async function typeErrors(cwd: string, ...args: readonly string[]): Promise<string> {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { stdout } = await run(process.execPath, [tsc, ...args], { cwd }).catch((error) => error)
  return stdout
}

/** Packs a copy of the repository, so that the compiled files do not stay in it. */
async function pack(folder: string): Promise<Packed> {
  const copy = join(folder, 'copy')
  const left = new Set(['node_modules', '.git', 'dist', 'data', 'coverage'])
  await cp(root, copy, {
    recursive: true,
    filter: (file) =>
      !relative(root, file)
        .split(sep)
        .some((part) => left.has(part)),
  })
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  const stdout = await npm(copy, 'pack', '--json', '--pack-destination', folder)
  // The output of the build precedes the list; newer versions of npm print an object by name.
  const list = JSON.parse(stdout.slice(stdout.search(/^[[{]/m))) as readonly Packed[] | Record<string, Packed>
  const [packed] = Object.values(list)
  assert.ok(packed)
  return packed
}

/** Rejects with both outputs: the compiler prints its errors to the other stream than npm. */
async function npm(cwd: string, ...args: readonly string[]): Promise<string> {
  try {
    return (await run('npm', args, { cwd, env, maxBuffer: 2 ** 26 })).stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`npm ${args[0]} failed\n${stdout}\n${stderr}`)
  }
}

const filesIn = async (folder: string): Promise<readonly string[]> => readdir(folder, { recursive: true })

const kilobytes = (bytes: number): string => `${Math.round(bytes / 1024).toLocaleString('en')} kB`
