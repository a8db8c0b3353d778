import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Change, ChangeLog, Config, Json, JsonObject, ModelDefinitions, Position, Service } from '../src/index.ts'
import { createService } from '../src/index.ts'

export interface SqliteOptions extends Omit<Config, 'models' | 'database'> {
  /** Run by a stranger before we open the file. */
  readonly before?: string
  /** A file that is there already, or `:memory:`. */
  readonly path?: string
}

export interface Answer {
  readonly status: number
  readonly body: Json
}

/** A service over a SQLite file, and another program that has the same file open. */
export class SqliteForTest implements AsyncDisposable {
  readonly path: string
  readonly service: Service
  /** What the service reported: a test that expects nothing finds it empty. */
  readonly reported: readonly unknown[]
  #stranger: DatabaseSync | undefined

  private constructor(path: string, service: Service, reported: readonly unknown[]) {
    this.path = path
    this.service = service
    this.reported = reported
  }

  /** Models have no `createdAt` and `updatedAt` here, so that a record is what was given. */
  static async open(models: ModelDefinitions, options: SqliteOptions = {}): Promise<SqliteForTest> {
    const { before, path = newFile(), ...config } = options
    if (before !== undefined) strangely(path, before)
    const reported: unknown[] = []
    const service = await createService({
      attributes: { createdAt: false, updatedAt: false },
      report: (error) => reported.push(error),
      ...config,
      database: `sqlite:${path}`,
      models,
    })
    return new SqliteForTest(path, service as Service, reported)
  }

  /** A connection that knows nothing of us: SQLite makes no difference between processes and connections. */
  get stranger(): DatabaseSync {
    this.#stranger ??= new DatabaseSync(this.path)
    return this.#stranger
  }

  get changes(): ChangeLog {
    return this.service.changes
  }

  /** As a client would, with everything that stands between. */
  async ask(method: string, path: string, body?: Json): Promise<Answer> {
    const headers = { 'content-type': 'application/json' }
    const request = new Request(`http://localhost${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    })
    const response = await this.service.fetch(request)
    return { status: response.status, body: (await response.json()) as Json }
  }

  /** A record that must be made. */
  async create(model: string, values: JsonObject): Promise<JsonObject> {
    const { status, body } = await this.ask('POST', `/${model}`, values)
    assert.equal(status, 201, JSON.stringify(body))
    return body as JsonObject
  }

  /** Every record, in the order of the keys. */
  async all(model: string): Promise<Json> {
    const { status, body } = await this.ask('GET', `/${model}?limit=1000&populate=false`)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service.close()
    this.#stranger?.close()
  }
}

/** What somebody else does to a file, with a connection of its own. */
export function strangely(path: string, statements: string): void {
  const stranger = new DatabaseSync(path)
  try {
    stranger.exec(statements)
  } finally {
    stranger.close()
  }
}

/** Everything that the log holds after a place. */
export async function changesAfter(changes: ChangeLog, after: Position): Promise<readonly Change[]> {
  const all: Change[] = []
  for (let position = after; ; ) {
    const batch = await changes.read(position, 500)
    if (batch === 'reset') throw new Error('the log answers reset')
    if (batch.changes.length === 0) return all
    all.push(...batch.changes)
    position = batch.position
  }
}

let folder: string | undefined
let files = 0

/** The name of a file that is not there yet; its folder goes when the process ends. */
export function newFile(): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'keelson-sqlite-'))
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    folder = made
  }
  return join(folder, `${++files}.db`)
}
