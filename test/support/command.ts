import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '../../src/protocol/json.ts'

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
export const commandFile = join(root, 'bin', 'keelson.js')

/** Far longer than any command takes; ends a test that would wait for ever. */
const timeoutMs = 30_000

/** A temporary folder with these files, removed after the tests. */
export function folder(files: Readonly<Record<string, string>> = {}): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-command-')))
  for (const [name, text] of Object.entries(files)) write(path, name, text)
  after(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }))
  return path
}

export function write(folder: string, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}

export interface CommandOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** A Node other than the one that runs the tests. */
  readonly node?: string
  /** A program other than the CLI of this repository. */
  readonly file?: string
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** The real command as a process, which is killed after the tests. */
export class Command {
  readonly #child: ChildProcess
  stdout = ''
  stderr = ''
  readonly #closed: Promise<Ended>
  #watchers: (() => void)[] = []
  #hasEnded = false

  constructor(args: readonly string[], { cwd, env, node = process.execPath, file = commandFile }: CommandOptions = {}) {
    const { PORT, DATABASE_URL, FORCE_COLOR, NODE_OPTIONS, NODE_TEST_CONTEXT, ...clean } = process.env
    this.#child = spawn(node, [file, ...args], {
      cwd,
      env: { ...clean, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child.stdout?.setEncoding('utf8').on('data', (text) => this.#collect('stdout', text))
    this.#child.stderr?.setEncoding('utf8').on('data', (text) => this.#collect('stderr', text))
    this.#closed = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        this.#hasEnded = true
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr })
        this.#notify()
      })
    })
    after(() => this.kill('SIGKILL'))
  }

  static run(args: readonly string[], options?: CommandOptions): Promise<Ended> {
    return new Command(args, options).ended
  }

  /** The result, once the process and its children have closed the output. */
  get ended(): Promise<Ended> {
    const { promise, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error(`The command did not end in time.\n${this.#printed}`)), timeoutMs)
    return Promise.race([this.#closed, promise]).finally(() => clearTimeout(timer))
  }

  get pid(): number {
    return this.#child.pid as number
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  closeOutput(): void {
    this.#child.stdout?.destroy()
  }

  /** Resolves when the output matches. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    const found = () => pattern.exec(this.stdout) ?? pattern.exec(this.stderr)
    const deadline = AbortSignal.timeout(timeoutMs)
    for (;;) {
      const match = found()
      if (match) return match
      if (deadline.aborted || this.#hasEnded) {
        const why = deadline.aborted ? 'in time' : 'before it ended'
        throw new Error(`No output matched ${pattern} ${why}.\n${this.#printed}`)
      }
      await new Promise<void>((resolve) => {
        this.#watchers.push(resolve)
        deadline.addEventListener('abort', () => resolve(), { once: true })
      })
    }
  }

  /** The lines printed with --json. */
  get events(): readonly JsonObject[] {
    const lines = this.stdout.split('\n')
    return lines.slice(0, -1).map((line) => JSON.parse(line) as JsonObject)
  }

  /** The address in the summary, once the service is ready. */
  async url(): Promise<string> {
    const [, url] = await this.until(/(http:\/\/127\.0\.0\.1:\d+)/)
    return url as string
  }

  get #printed(): string {
    return `stdout: ${this.stdout}\nstderr: ${this.stderr}`
  }

  #collect(stream: 'stdout' | 'stderr', text: string): void {
    this[stream] += text
    this.#notify()
  }

  #notify(): void {
    for (const watcher of this.#watchers.splice(0)) watcher()
  }
}

/** Sends a request and returns its JSON answer. */
export async function ask(url: string, init?: RequestInit): Promise<JsonObject & JsonObject[]> {
  const response = await fetch(url, init)
  return (await response.json()) as JsonObject & JsonObject[]
}

export const post = (url: string, values: JsonObject): Promise<JsonObject> =>
  ask(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(values) })

/** The files of a configuration with one model. */
export const petShop = {
  'keelson.config.ts': `import { defineConfig } from 'keelson'
import { pet } from './models/pet.ts'

export default defineConfig({ models: { pet } })
`,
  'models/pet.ts': `import type { ModelDefinition } from 'keelson'

export const pet = {
  attributes: {
    name: { type: 'string', required: true },
  },
} as const satisfies ModelDefinition
`,
} as const
