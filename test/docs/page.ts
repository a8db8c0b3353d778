import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Block, commandsOf, fileNameOf } from './blocks.ts'
import { isLoosely } from './loosely.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const program = join(root, 'bin', 'keelson.js')
const hook = new URL('import-keelson.ts', import.meta.url).href

/** How pages call the service that answers them: by this address or as `$URL`. Ours has another port. */
const saidAddress = 'localhost:1337'
const asksService = (text: string): boolean => text.includes(saidAddress) || text.includes('$URL')
const longestMs = 60_000
const configFile = 'keelson.config.ts'

interface Printed {
  readonly code: number
  readonly text: string
}

/** The folder of one page, in which its blocks are run one after another, and the service that its commands ask. */
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
    // What a program brings along besides us, it finds as if it were installed.
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    // At a terminal curl shows no progress, and here it would.
    await writeFile(join(folder, '.curlrc'), 'silent\nshow-error\n')
    await mkdir(join(folder, 'bin'))
    await script(join(folder, 'bin', 'keelson'), `exec "${process.execPath}" "${program}" "$@"`)
    await script(join(folder, 'bin', 'npx'), 'exec "$@"')
    return new Page(folder, name)
  }

  /** Runs a block. Throws an AssertionError that names the line, when it fails or prints something else. */
  async run(block: Block): Promise<void> {
    if (block.kind === 'sh') return this.#commands(block)
    const file = fileNameOf(block)
    const path = join(this.#folder, file ?? `block-${++this.#programs}.${block.kind}`)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, block.text)
    if (file === configFile) {
      this.#hasConfig = true
      return this.#stop()
    }
    const { code, text } = await this.#print(process.execPath, ['--import', hook, path])
    assert.equal(code, 0, `${this.#name}:${block.line} ends with ${code}\n${text}`)
    if (block.output !== undefined) this.#compare(block.line, text, block.output)
  }

  async #commands(block: Block): Promise<void> {
    if (asksService(block.text)) this.#service ??= await this.#start()
    const address = this.#service?.address ?? saidAddress
    const ours = (text: string): string => text.replaceAll(saidAddress, address)
    const commands = commandsOf(block.text)
    const mark = `-- ${process.pid} ${block.line} --`
    const lines = commands.flatMap(({ text }) => [ours(text), `printf '\\n%s%s\\n' '${mark}' $?`])
    const { text } = await this.#print('bash', ['-c', lines.join('\n')])
    // A command's output stands before its mark, and behind the mark how it ended.
    const [first = '', ...rest] = text.replaceAll(address, saidAddress).split(mark)
    const outputs = [first, ...rest.map((part) => part.slice(part.indexOf('\n') + 1))]
    for (const [index, command] of commands.entries()) {
      const code = Number.parseInt(rest[index] ?? '', 10)
      const said = outputs[index]?.trim() ?? 'nothing: a command before it ended the shell'
      assert.equal(code, 0, `${this.#name}:${block.line} ends with ${code}\n$ ${command.text}\n${said}`)
      if (command.expected !== '') this.#compare(block.line, said, command.expected, command.text)
    }
  }

  #compare(line: number, actual: string, expected: string, command = ''): void {
    if (isLoosely(actual, expected)) return
    assert.fail(
      `${this.#name}:${line} prints something else\n$ ${command}\n--- it prints\n${actual}\n--- the page says\n${expected}`,
    )
  }

  /** With the page's own configuration, or with the one that all pages share. */
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
    const ended = once(child, 'exit').then(([code]) => assert.fail(`${this.#name}: its service ended with ${code}`))
    const lines = createInterface({ input: child.stdout })
    const ready = new Promise<string>((resolve) => {
      lines.on('line', (line) => {
        const said = JSON.parse(line) as { event: string; port?: number }
        if (said.event === 'ready') resolve(`127.0.0.1:${said.port}`)
      })
    })
    ended.catch(() => {}) // nobody asks any more when it is stopped
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

  /** What a program prints, on both of its outputs in the order in which it does. */
  async #print(file: string, args: readonly string[]): Promise<Printed> {
    const child = spawn(file, args, {
      cwd: this.#folder,
      env: this.#env(),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: longestMs,
      killSignal: 'SIGKILL',
    })
    const pieces: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => pieces.push(piece))
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
    const text = Buffer.concat(pieces).toString()
    return { code: code ?? 1, text: signal === null ? text : `${text}\nended by ${signal} after ${longestMs} ms` }
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
