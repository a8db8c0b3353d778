import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '../src/protocol/json.ts'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
export const commandFile = join(root, 'bin', 'keelson.js')

/** Far more than anything here takes; it only keeps a test that will never end from waiting for ever. */
const patienceMs = 30_000

/** A folder of its own for a test, with these files. It is gone when the tests are. */
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
  /** Another Node than the one the tests run on. */
  readonly node?: string
  /** Another program than ours. */
  readonly file?: string
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** The real command, as a process of its own. It ends with the tests at the latest. */
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
    this.#child.stdout?.setEncoding('utf8').on('data', (text) => this.#heard('stdout', text))
    this.#child.stderr?.setEncoding('utf8').on('data', (text) => this.#heard('stderr', text))
    this.#closed = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        this.#hasEnded = true
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr })
        this.#tell()
      })
    })
    after(() => this.kill('SIGKILL'))
  }

  static run(args: readonly string[], options?: CommandOptions): Promise<Ended> {
    return new Command(args, options).ended
  }

  /** How it ended, once nobody holds its output any more: neither it, nor anything that it has started. */
  get ended(): Promise<Ended> {
    const { promise, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error(`It has not ended.\n${this.#printed}`)), patienceMs)
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

  /** Resolves when it has printed something that fits. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    const found = () => pattern.exec(this.stdout) ?? pattern.exec(this.stderr)
    const deadline = AbortSignal.timeout(patienceMs)
    for (;;) {
      const match = found()
      if (match) return match
      if (deadline.aborted || this.#hasEnded) {
        const why = deadline.aborted ? 'in time' : 'before it ended'
        throw new Error(`Nothing fits ${pattern} ${why}.\n${this.#printed}`)
      }
      await new Promise<void>((resolve) => {
        this.#watchers.push(resolve)
        deadline.addEventListener('abort', () => resolve(), { once: true })
      })
    }
  }

  /** The lines it has printed with --json. */
  get events(): readonly JsonObject[] {
    const lines = this.stdout.split('\n')
    return lines.slice(0, -1).map((line) => JSON.parse(line) as JsonObject)
  }

  /** The address in the summary, once it serves. */
  async url(): Promise<string> {
    const [, url] = await this.until(/(http:\/\/127\.0\.0\.1:\d+)/)
    return url as string
  }

  get #printed(): string {
    return `stdout: ${this.stdout}\nstderr: ${this.stderr}`
  }

  #heard(stream: 'stdout' | 'stderr', text: string): void {
    this[stream] += text
    this.#tell()
  }

  #tell(): void {
    for (const watcher of this.#watchers.splice(0)) watcher()
  }
}

/** Asks and expects JSON. */
export async function ask(url: string, init?: RequestInit): Promise<JsonObject & JsonObject[]> {
  const response = await fetch(url, init)
  return (await response.json()) as JsonObject & JsonObject[]
}

export const post = (url: string, values: JsonObject): Promise<JsonObject> =>
  ask(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(values) })

/** A configuration of one model in a file of its own. */
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
