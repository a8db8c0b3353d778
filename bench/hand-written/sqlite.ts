import { statSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { reportToParent } from '../child.ts'
import { answer, type Pets, refuse, servePets } from './http.ts'
import {
  encodePatients,
  encodePopulated,
  ownerList,
  patientKey,
  patientOwner,
  readPatients,
  type Spelling,
  visitList,
} from './patient.ts'
import { columns, quote, Refusal, readChanges, readList, readNewPet, type Stored, selectList } from './pet.ts'

/*
 * The upper limit: a server written by hand for these tables and for speed on SQLite. Statements are prepared
 * once, rows stay arrays, JSON columns stay text, and the writes of one turn of the event loop share a durable commit. With
 * `by-hand-not-durable`, each write has a commit of its own, as in most servers, and is answered before it reaches the disk;
 * `by-hand-grouped` keeps the shared commits.
 */

const checkpointBytes = 4 * 1024 * 1024
const commitsPerLook = 64
const checkpointer = `
const { parentPort, workerData } = require('node:worker_threads')
const database = new (require('node:sqlite').DatabaseSync)(workerData)
parentPort.on('message', () => database.exec('pragma wal_checkpoint(passive)'))`

const placeholder = (): string => '?'
const stored = (value: Stored): SQLInputValue => (typeof value === 'boolean' ? Number(value) : value)

type Row = readonly unknown[]

const text = (value: unknown): string => (value === null ? 'null' : quote(value as string))

const encode = (row: Row): string => `${encodeOwn(row)}${encodeTimes(row, 10)}}`

function encodeOwn(row: Row): string {
  return (
    `{"id":${row[0]},"name":${quote(row[1] as string)},"kind":${quote(row[2] as string)},"breed":${text(row[3])}` +
    `,"note":${text(row[4])},"age":${row[5]},"weight":${row[6]},"tags":${row[7]},"details":${row[8]}` +
    `,"vaccinated":${row[9] === null ? 'null' : row[9] === 1}`
  )
}

const encodeTimes = (row: Row, at: number): string => `,"createdAt":"${row[at]}","updatedAt":"${row[at + 1]}"`

const spelling: Spelling<Row> = {
  own: encodeOwn,
  times: encodeTimes,
  text,
}

function encodeAll(rows: readonly Row[]): string {
  if (rows.length === 0) return '[]'
  let list = `[${encode(rows[0] as Row)}`
  for (let index = 1; index < rows.length; index++) list += `,${encode(rows[index] as Row)}`
  return `${list}]`
}

const keys = '(select key as n, value as k from json_each(?))'
const ownersOf = `select ${ownerList} from ${keys} cross join "owner" where "id" = k`
const visitsOf =
  `select ${visitList} from ${keys} cross join "visit" on "id" in ` +
  '(select "id" from "visit" where "patient" = k order by "id" limit 30) order by n, "id"'

interface Write {
  readonly statement: StatementSync
  readonly values: readonly SQLInputValue[]
  readonly status: number
  readonly response: ServerResponse
}

class SqlitePets implements Pets {
  readonly #path: string
  readonly #isGrouped: boolean
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  readonly #one: StatementSync
  readonly #insert: StatementSync
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #checkpointer: Worker
  #waiting: Write[] = []
  #commits = 0

  constructor(path: string, isDurable: boolean, isGrouped: boolean) {
    this.#path = path
    this.#isGrouped = isGrouped
    this.#database = new DatabaseSync(path)
    this.#database.exec(
      `pragma journal_mode = wal; pragma synchronous = ${isDurable ? 'full' : 'normal'}; pragma wal_autocheckpoint = 16384`,
    )
    this.#one = this.#prepare(`select ${selectList} from "pet" where "id" = ?`)
    const names = [...columns.map(({ name }) => `"${name}"`), '"createdAt"', '"updatedAt"']
    this.#insert = this.#prepare(
      `insert into "pet" (${names.join(', ')}) values (${names.map(placeholder).join(', ')}) returning ${selectList}`,
    )
    this.#begin = this.#database.prepare('begin immediate')
    this.#commit = this.#database.prepare('commit')
    this.#checkpointer = new Worker(checkpointer, { eval: true, workerData: path })
  }

  one(id: number, response: ServerResponse): void {
    const [row] = this.#one.all(id) as unknown as readonly Row[]
    if (!row) throw new Refusal(404, 'There is no such pet')
    answer(response, 200, encode(row))
  }

  list(query: string, response: ServerResponse): void {
    const { text, values } = readList(query, placeholder)
    answer(response, 200, encodeAll(this.#prepare(text).all(...values.map(stored)) as unknown as readonly Row[]))
  }

  create(body: unknown, response: ServerResponse): void {
    const now = new Date().toISOString()
    const values = [...readNewPet(body).map(stored), now, now]
    this.#write({ statement: this.#insert, values, status: 201, response })
  }

  update(id: number, body: unknown, response: ServerResponse): void {
    const { names, values } = readChanges(body)
    let sets = ''
    for (const name of names) sets += `"${name}" = ?, `
    const statement = this.#prepare(`update "pet" set ${sets}"updatedAt" = ? where "id" = ? returning ${selectList}`)
    this.#write({ statement, values: [...values.map(stored), new Date().toISOString(), id], status: 200, response })
  }

  patients(query: string, response: ServerResponse): void {
    const { text, values, populated } = readPatients(query, placeholder)
    const patients = this.#prepare(text).all(...values.map(stored)) as unknown as readonly Row[]
    answer(response, 200, populated ? this.#populated(patients) : encodePatients(patients, spelling))
  }

  #populated(patients: readonly Row[]): string {
    const owners = this.#related(ownersOf, [...new Set(patients.map((row) => row[patientOwner]))])
    const ids = patients.map((row) => row[patientKey])
    return encodePopulated(patients, owners, this.#related(visitsOf, ids), spelling)
  }

  #related(text: string, keys: readonly unknown[]): readonly Row[] {
    return this.#prepare(text).all(`[${keys.filter((key) => key !== null).join()}]`) as unknown as readonly Row[]
  }

  #prepare(text: string): StatementSync {
    let statement = this.#statements.get(text)
    if (!statement) {
      statement = this.#database.prepare(text)
      statement.setReturnArrays(true)
      this.#statements.set(text, statement)
    }
    return statement
  }

  #write(write: Write): void {
    if (!this.#isGrouped) this.#commitOne(write)
    else if (this.#waiting.push(write) === 1) setImmediate(() => this.#commitAll())
  }

  /** The writes of one turn of the event loop are committed together and acknowledged after the commit. */
  #commitAll(): void {
    const writes = this.#waiting
    this.#waiting = []
    const results: (readonly Row[] | Error)[] = []
    try {
      this.#begin.run()
      for (const write of writes) results.push(this.#run(write))
      this.#commit.run()
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('rollback')
      for (const { response } of writes) refuse(response, error)
      return
    }
    for (let index = 0; index < writes.length; index++) {
      this.#acknowledge(writes[index] as Write, results[index] as readonly Row[] | Error)
    }
    this.#committed()
  }

  #commitOne(write: Write): void {
    const rows = write.statement.all(...write.values) as unknown as readonly Row[]
    this.#acknowledge(write, rows)
    this.#committed()
  }

  #committed(): void {
    if (++this.#commits % commitsPerLook === 0 && statSync(`${this.#path}-wal`).size > checkpointBytes) {
      this.#checkpointer.postMessage('checkpoint')
    }
  }

  /** A statement that fails undoes itself; the others of the transaction stay. */
  #run({ statement, values }: Write): readonly Row[] | Error {
    try {
      return statement.all(...values) as unknown as readonly Row[]
    } catch (error) {
      if (!this.#database.isTransaction) throw error
      return error as Error
    }
  }

  #acknowledge({ response, status }: Write, result: readonly Row[] | Error): void {
    const row = result instanceof Error ? undefined : result[0]
    if (row) answer(response, status, encode(row))
    else refuse(response, result instanceof Error ? result : new Refusal(404, 'There is no such pet'))
  }

  async close(): Promise<void> {
    await this.#checkpointer.terminate()
    this.#database.close()
  }
}

const [database = '', port, ...options] = process.argv.slice(2)
const isDurable = !options.includes('by-hand-not-durable')
const pets = new SqlitePets(
  database.slice('sqlite:'.length),
  isDurable,
  isDurable || options.includes('by-hand-grouped'),
)
servePets(pets).listen(Number(port), '127.0.0.1', () => reportToParent(() => pets.close()))
