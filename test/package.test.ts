import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))

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

describe('the package, as somebody installs it', () => {
  let folder: string
  let packed: Packed
  /** An empty project of somebody else. */
  let project: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keelson-package-'))
    packed = await pack(folder)
    project = join(folder, 'project')
    await mkdir(project)
    await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'project', private: true, type: 'module' }))
    await npm(project, 'install', '--no-audit', '--no-fund', '--prefer-offline', join(folder, packed.filename))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  test('holds what runs and its types, and no sources and tests', (t) => {
    const paths = packed.files.map(({ path }) => path)
    const strange = paths.filter(
      (path) => !/^(bin|dist)\/|^(package\.json|README\.md|LICENSE(\.md)?|CHANGELOG\.md)$/.test(path),
    )
    assert.deepEqual(strange, [])
    assert.deepEqual(
      paths.filter((path) => /\.test\.|\.types\.|[^d]\.ts$/.test(path)),
      [],
    )
    for (const path of ['bin/keelson.js', 'dist/index.js', 'dist/index.d.ts'])
      assert.ok(paths.includes(path), `${path} is missing`)
    t.diagnostic(`${kilobytes(packed.size)} packed, ${kilobytes(packed.unpackedSize)} unpacked, ${paths.length} files`)
  })

  test('brings few others, none of which runs anything when it is installed or was made for one machine', async (t) => {
    const lock = JSON.parse(await readFile(join(project, 'node_modules', '.package-lock.json'), 'utf8'))
    const installed = Object.entries<InstalledPackage>(lock.packages)
    const names = installed.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')} ${version}`)
    t.diagnostic(names.join(', '))
    assert.ok(installed.length <= 8, names.join(', '))
    assert.deepEqual(
      installed.filter(([, { hasInstallScript }]) => hasInstallScript),
      [],
    )
    const native = (await filesIn(join(project, 'node_modules'))).filter((file) =>
      /\.(node|so|dylib|dll|wasm)$|binding\.gyp$/.test(file),
    )
    assert.deepEqual(native, [])
  })

  test('names its types so that a project finds them', async () => {
    await writeFile(
      join(project, 'use.ts'),
      `import { createService, type Json, ServiceError } from 'keelson'
const service = await createService({ database: 'memory:', models: { pet: { attributes: { name: { type: 'string', required: true } } } } })
const name: string = (await service.system.records.pet.create({ name: 'Rex' })).name
// @ts-expect-error a name is a text
service.system.records.pet.create({ name: 1 })
export const told: readonly [Json, typeof ServiceError] = [name, ServiceError]
`,
    )
    const options = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--lib',
      'es2024,esnext.disposable',
    ]
    const ofNode = ['--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')]
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    const { stdout } = await run(process.execPath, [tsc, ...options, ...ofNode, 'use.ts'], { cwd: project }).catch(
      (error) => error,
    )
    assert.equal(stdout, '')
  })

  test('starts from a small configuration, answers, and stops', async (t) => {
    await writeFile(
      join(project, 'keelson.config.ts'),
      `import { defineConfig } from 'keelson'
export default defineConfig({ models: { pet: { attributes: { name: { type: 'string' } } } } })
`,
    )
    const startedAt = performance.now()
    const program = join(project, 'node_modules', '.bin', 'keelson')
    const child = spawn(process.execPath, [program, 'start', '--port', '0', '--json'], {
      cwd: project,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, DATABASE_URL: '', PORT: '' },
    })
    const exit = once(child, 'exit')
    try {
      const [line] = await Promise.race([
        once(createInterface({ input: child.stdout }), 'line'),
        exit.then(([code]) => assert.fail(`it ended with ${code}`)),
      ])
      const { event, url } = JSON.parse(line as string) as { event: string; url: string }
      assert.equal(event, 'ready')
      const response = await fetch(`${url}/pet`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Rex' }),
      })
      const answeredAt = performance.now()
      assert.equal(response.status, 201)
      const found = (await (await fetch(`${url}/pet/1`)).json()) as { name: string }
      assert.equal(found.name, 'Rex')
      t.diagnostic(
        `${Math.round(answeredAt - startedAt)} ms from nothing to the first answer, ${kilobytes(residentBytes(child.pid))} resident`,
      )
    } finally {
      child.kill('SIGTERM')
    }
    const [code] = await exit
    assert.equal(code, 0)
  })
})

/** Packs a copy, so that what is built does not stay in the repository. */
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
  // What the build prints stands before the list, and the list is an object by name in newer versions.
  const said = JSON.parse(stdout.slice(stdout.search(/^[[{]/m))) as readonly Packed[] | Record<string, Packed>
  const [packed] = Object.values(said)
  assert.ok(packed)
  return packed
}

/** Fails with everything that was said: a compiler says what is wrong where npm says what it did. */
async function npm(cwd: string, ...args: readonly string[]): Promise<string> {
  try {
    return (await run('npm', args, { cwd, maxBuffer: 2 ** 26 })).stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`npm ${args[0]} failed\n${stdout}\n${stderr}`)
  }
}

const filesIn = async (folder: string): Promise<readonly string[]> => readdir(folder, { recursive: true })

const kilobytes = (bytes: number): string => `${Math.round(bytes / 1024).toLocaleString('en')} kB`

/** What a process keeps in memory, as the system counts it. */
const residentBytes = (pid: number | undefined): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024
