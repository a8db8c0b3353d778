import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Block, commandsOf, fileNameOf } from './blocks.ts'
import { matchesExpected } from './expected-output.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const program = join(root, 'bin', 'keelson.js')
const hook = new URL('import-keelson.ts', import.meta.url).href

/** Pages address the service by this host and port or as `$URL`. The service of the test has another port. */
const documentedAddress = 'localhost:1337'
const usesService = (text: string): boolean => text.includes(documentedAddress) || text.includes('$URL')
const timeoutMs = 60_000
const configFile = 'keelson.config.ts'

interface Result {
  readonly code: number
  readonly text: string
}

/** The temporary folder in which the blocks of a page run in order, and the service that its commands use. */
export class Page implements AsyncDisposable {
  readonly #folder: string
  readonly #name: string
  #hasConfig = false
  #service: { readonly child: ChildProcess; readonly address: string } | undefined
  #programs = 0

  private constructor(folder: string, name: string) {
    this.#folder = folder
    this.#name = name
  }

  static async open(name: string): Promise<Page> {
    const folder = await mkdtemp(join(tmpdir(), 'keelson-docs-'))
    await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    // Programs import the development dependencies of the repository as installed packages.
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    // Without a terminal curl prints its progress.
    await writeFile(join(folder, '.curlrc'), 'silent\nshow-error\n')
    await mkdir(join(folder, 'bin'))
    await script(join(folder, 'bin', 'keelson'), `exec "${process.execPath}" "${program}" "$@"`)
    await script(join(folder, 'bin', 'npx'), 'exec "$@"')
    return new Page(folder, name)
  }

  /** Runs a block. Throws an AssertionError that names the line when it fails or prints another output. */
  async run(block: Block): Promise<void> {
    if (block.kind === 'sh') return this.#commands(block)
    const file = fileNameOf(block)
    const path = join(this.#folder, file ?? `block-${++this.#programs}.${block.kind}`)
    await mkdir(dirname(path), { recursive: true })
    // A program that is a client of the service.
    if (file !== configFile && block.text.includes(documentedAddress)) this.#service ??= await this.#start()
    await writeFile(path, this.#withAddress(block.text))
    if (file === configFile) {
      this.#hasConfig = true
      return this.#stop()
    }
    const { code, text } = await this.#execute(process.execPath, ['--import', hook, path])
    assert.equal(code, 0, `${this.#name}:${block.line} exits with ${code}\n${text}`)
    if (block.output !== undefined) this.#compare(block.line, text, block.output)
  }

  async #commands(block: Block): Promise<void> {
    if (usesService(block.text)) this.#service ??= await this.#start()
    const address = this.#service?.address ?? documentedAddress
    const commands = commandsOf(block.text)
    const mark = `-- ${process.pid} ${block.line} --`
    const lines = commands.flatMap(({ text }) => [this.#withAddress(text), `printf '\\n%s%s\\n' '${mark}' $?`])
    const { text } = await this.#execute('bash', ['-c', lines.join('\n')])
    // The output of a command precedes its mark; its exit code follows it.
    const [first = '', ...rest] = text.replaceAll(address, documentedAddress).split(mark)
    const outputs = [first, ...rest.map((part) => part.slice(part.indexOf('\n') + 1))]
    for (const [index, command] of commands.entries()) {
      const code = Number.parseInt(rest[index] ?? '', 10)
      const output = outputs[index]?.trim() ?? 'nothing: an earlier command ended the shell'
      assert.equal(code, 0, `${this.#name}:${block.line} exits with ${code}\n$ ${command.text}\n${output}`)
      if (command.expected !== '') this.#compare(block.line, output, command.expected, command.text)
    }
  }

  #withAddress(text: string): string {
    return text.replaceAll(documentedAddress, this.#service?.address ?? documentedAddress)
  }

  #compare(line: number, actual: string, expected: string, command = ''): void {
    if (matchesExpected(actual, expected)) return
    assert.fail(
      `${this.#name}:${line} prints another output\n$ ${command}\n--- actual\n${actual}\n--- documented\n${expected}`,
    )
  }

  /** Starts the configuration of the page, or the default one. */
  async #start(): Promise<{ child: ChildProcess; address: string }> {
    const config = this.#hasConfig
      ? join(this.#folder, configFile)
      : fileURLToPath(new URL(configFile, import.meta.url))
    const args = ['--config', config, '--database', `sqlite:${join(this.#folder, 'page.db')}`]
    const child = spawn(process.execPath, [program, 'start', '--port', '0', '--json', ...args], {
      cwd: this.#folder,
      env: this.#env(),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit').then(([code]) => assert.fail(`${this.#name}: its service exited with ${code}`))
    const lines = createInterface({ input: child.stdout })
    const ready = new Promise<string>((resolve) => {
      lines.on('line', (line) => {
        const { event, port } = JSON.parse(line) as { event: string; port?: number }
        if (event === 'ready') resolve(`127.0.0.1:${port}`)
      })
    })
    ended.catch(() => {}) // an exit after `ready` is expected
    return { child, address: await Promise.race([ready, ended]) }
  }

  async #stop(): Promise<void> {
    const child = this.#service?.child
    this.#service = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    await exit
  }

  /** Runs a program and returns its exit code and the text of both outputs in order. */
  async #execute(file: string, args: readonly string[]): Promise<Result> {
    const child = spawn(file, args, {
      cwd: this.#folder,
      env: this.#env(),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    })
    const pieces: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => pieces.push(piece))
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
    const text = Buffer.concat(pieces).toString()
    return { code: code ?? 1, text: signal === null ? text : `${text}\nkilled by ${signal} after ${timeoutMs} ms` }
  }

  #env(): NodeJS.ProcessEnv {
    const { DATABASE_URL: _, PORT: __, NODE_TEST_CONTEXT: ___, ...env } = process.env
    const address = this.#service?.address
    return {
      ...env,
      HOME: this.#folder,
      PATH: `${join(this.#folder, 'bin')}:${dirname(process.execPath)}:${env.PATH}`,
      NO_COLOR: '1',
      ...(address !== undefined && { URL: `http://${address}` }),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

async function script(path: string, text: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${text}\n`)
  await chmod(path, 0o755)
}
