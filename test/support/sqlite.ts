import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type {
  Change,
  ChangeLog,
  Config,
  Json,
  JsonObject,
  ModelDefinitions,
  Position,
  Service,
} from '../../src/index.ts'
import { createService } from '../../src/index.ts'

export interface SqliteOptions extends Omit<Config, 'models' | 'database'> {
  /** SQL executed by a foreign connection before the service opens the file. */
  readonly before?: string
  /** An existing file, or `:memory:`. */
  readonly path?: string
}

export interface Answer {
  readonly status: number
  readonly body: Json
}

/** A service over a SQLite file, and a foreign connection to the same file. */
export class SqliteForTest implements AsyncDisposable {
  readonly path: string
  readonly service: Service
  /** The errors that the service reported. */
  readonly reported: readonly unknown[]
  #otherProgram: DatabaseSync | undefined

  private constructor(path: string, service: Service, reported: readonly unknown[]) {
    this.path = path
    this.service = service
    this.reported = reported
  }

  /** Models have no timestamps here, so that a record equals the given values. */
  static async open(models: ModelDefinitions, options: SqliteOptions = {}): Promise<SqliteForTest> {
    const { before, path = newFile(), ...config } = options
    if (before !== undefined) asOtherProgram(path, before)
    const reported: unknown[] = []
    const service = await createService({
      attributes: { createdAt: false, updatedAt: false },
      onError: (error) => reported.push(error),
      ...config,
      database: `sqlite:${path}`,
      models,
    })
    return new SqliteForTest(path, service as Service, reported)
  }

  /** A connection outside of the service. To SQLite, a second connection is like a second process. */
  get otherProgram(): DatabaseSync {
    this.#otherProgram ??= new DatabaseSync(this.path)
    return this.#otherProgram
  }

  get changes(): ChangeLog {
    return this.service.changes
  }

  /** Sends a request through the fetch handler. */
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

  /** Creates a record; fails the test when it is refused. */
  async create(model: string, values: JsonObject): Promise<JsonObject> {
    const { status, body } = await this.ask('POST', `/${model}`, values)
    assert.equal(status, 201, JSON.stringify(body))
    return body as JsonObject
  }

  /** All records, by primary key. */
  async all(model: string): Promise<Json> {
    const { status, body } = await this.ask('GET', `/${model}?limit=1000&populate=false`)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service.close()
    this.#otherProgram?.close()
  }
}

/** Executes statements on a file over a connection of its own. */
export function asOtherProgram(path: string, statements: string): void {
  const otherProgram = new DatabaseSync(path)
  try {
    otherProgram.exec(statements)
  } finally {
    otherProgram.close()
  }
}

/** All changes after a position. */
export async function changesAfter(changes: ChangeLog, after: Position): Promise<readonly Change[]> {
  const all: Change[] = []
  for (let position = after; ; ) {
    const batch = await changes.read(position, 500)
    if (batch === 'reset') throw new Error('the log answered "reset"')
    if (batch.changes.length === 0) return all
    all.push(...batch.changes)
    position = batch.position
  }
}

let folder: string | undefined
let files = 0

/** The path of a new file in a folder that is removed when the process exits. */
export function newFile(): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'keelson-sqlite-'))
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    folder = made
  }
  return join(folder, `${++files}.db`)
}
