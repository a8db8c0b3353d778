import type { ServerResponse } from 'node:http'
import { Client, type Connection, Query, type Submittable } from 'pg'
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
 * The upper limit: a server written by hand for these tables and for speed on PostgreSQL. A few
 * pipelined connections, one write to each in a turn of the event loop, named statements that are not described again,
 * and rows that stay the texts that the database sent.
 */

const connections = 4
const placeholder = (number: number): string => `$${number}`

type Row = readonly (string | null)[]
type Done = (error: unknown, rows: readonly Row[]) => void

// A pipeline accepts instances of this class only, and its types declare only its callback.
const Base = Query as unknown as new (text: string) => object

class TextQuery extends Base {
  readonly #text: string
  readonly #values: readonly Stored[]
  readonly #names: Map<string, string>
  readonly #done: Done
  readonly #rows: Row[] = []

  constructor(text: string, values: readonly Stored[], names: Map<string, string>, done: Done) {
    super('')
    this.#text = text
    this.#values = values
    this.#names = names
    this.#done = done
  }

  submit(wire: Connection): null {
    let name = this.#names.get(this.#text)
    if (name === undefined) {
      name = `pet_${this.#names.size}`
      this.#names.set(this.#text, name)
      wire.parse({ name, text: this.#text, types: [] }, true)
    }
    wire.bind({ statement: name, values: this.#values as string[], valueMapper: asText }, true)
    wire.execute(null, true)
    wire.sync()
    return null
  }

  handleDataRow({ fields }: { readonly fields: Row }): void {
    this.#rows.push(fields)
  }

  handleRowDescription(): void {}

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#done(undefined, this.#rows)
  }

  handleError(error: unknown): void {
    this.#done(error, [])
  }
}

const asText = (value: unknown): string | null => (value === null ? null : String(value))

/** A connection, with the names of what is prepared on it. */
class Pipeline {
  readonly #client: Client
  readonly #names = new Map<string, string>()
  #isCorked = false

  constructor(client: Client) {
    this.#client = client
  }

  query(text: string, values: readonly Stored[], done: Done): void {
    this.#cork()
    this.#client.query(new TextQuery(text, values, this.#names, done) as unknown as Submittable)
  }

  #cork(): void {
    if (this.#isCorked) return
    this.#isCorked = true
    const { stream } = this.#client.connection
    stream.cork()
    setImmediate(() => {
      this.#isCorked = false
      stream.uncork()
    })
  }

  close(): Promise<void> {
    return this.#client.end()
  }
}

const text = (value: string | null | undefined): string => (typeof value === 'string' ? quote(value) : 'null')

/** '2025-06-15 15:06:41.5+00' is '2025-06-15T15:06:41.500Z'. */
function time(value: string): string {
  const fraction = value.length > 22 ? value.slice(20, -3).padEnd(3, '0') : '000'
  return `${value.slice(0, 10)}T${value.slice(11, 19)}.${fraction}Z`
}

const encode = (row: Row): string => `${encodeOwn(row)}${encodeTimes(row, 10)}}`

function encodeOwn(row: Row): string {
  return (
    `{"id":${row[0]},"name":${text(row[1])},"kind":${text(row[2])},"breed":${text(row[3])},"note":${text(row[4])}` +
    `,"age":${row[5]},"weight":${row[6]},"tags":${row[7]},"details":${row[8]}` +
    `,"vaccinated":${row[9] === null ? 'null' : row[9] === 't'}`
  )
}

const encodeTimes = (row: Row, at: number): string =>
  `,"createdAt":"${time(row[at] as string)}","updatedAt":"${time(row[at + 1] as string)}"`

const spelling: Spelling<Row> = {
  own: encodeOwn,
  times: encodeTimes,
  text,
}

const ownersOf = `select ${ownerList} from unnest($1::bigint[]) k join "owner" on "id" = k`
const visitsOf =
  `select ${visitList} from unnest($1::bigint[]) with ordinality p (k, n) cross join lateral ` +
  '(select * from "visit" where "patient" = k order by "id" limit 30) v order by n, "id"'

function encodeAll(rows: readonly Row[]): string {
  if (rows.length === 0) return '[]'
  let list = `[${encode(rows[0] as Row)}`
  for (let index = 1; index < rows.length; index++) list += `,${encode(rows[index] as Row)}`
  return `${list}]`
}

class PostgresPets implements Pets {
  readonly #pipelines: readonly Pipeline[]
  readonly #insert: string
  #next = 0

  constructor(pipelines: readonly Pipeline[]) {
    this.#pipelines = pipelines
    const names = [...columns.map(({ name }) => `"${name}"`), '"createdAt"', '"updatedAt"']
    const marks = names.map((_, index) => placeholder(index + 1))
    this.#insert = `insert into "pet" (${names.join(', ')}) values (${marks.join(', ')}) returning ${selectList}`
  }

  one(id: number, response: ServerResponse): void {
    this.#query(`select ${selectList} from "pet" where "id" = $1`, [id], response, (rows) => first(rows, 200, response))
  }

  list(query: string, response: ServerResponse): void {
    const { text, values } = readList(query, placeholder)
    this.#query(text, values, response, (rows) => answer(response, 200, encodeAll(rows)))
  }

  create(body: unknown, response: ServerResponse): void {
    const now = new Date().toISOString()
    const values = [...readNewPet(body), now, now]
    this.#query(this.#insert, values, response, (rows) => first(rows, 201, response))
  }

  update(id: number, body: unknown, response: ServerResponse): void {
    const { names, values } = readChanges(body)
    let sets = ''
    for (let index = 0; index < names.length; index++) sets += `"${names[index]}" = $${index + 1}, `
    const count = names.length
    const text = `update "pet" set ${sets}"updatedAt" = $${count + 1} where "id" = $${count + 2} returning ${selectList}`
    this.#query(text, [...values, new Date().toISOString(), id], response, (rows) => first(rows, 200, response))
  }

  patients(query: string, response: ServerResponse): void {
    const { text, values, populated } = readPatients(query, placeholder)
    this.#query(text, values, response, (patients) => {
      if (!populated) return answer(response, 200, encodePatients(patients, spelling))
      const owners = [...new Set(patients.map((row) => row[patientOwner]))].filter((key) => key !== null)
      // Both are on their way before the first of them is answered; a pipeline answers in order.
      let found: readonly Row[] = []
      const pipeline = this.#pipeline()
      pipeline.query(ownersOf, [`{${owners.join()}}`], (error, rows) => {
        if (error) refuse(response, error)
        found = rows
      })
      pipeline.query(visitsOf, [`{${patients.map((row) => row[patientKey]).join()}}`], (error, visits) => {
        if (response.headersSent) return
        if (error) refuse(response, error)
        else answer(response, 200, encodePopulated(patients, found, visits, spelling))
      })
    })
  }

  #query(text: string, values: Stored[], response: ServerResponse, use: (rows: readonly Row[]) => void): void {
    this.#pipeline().query(text, values, (error, rows) => {
      if (error) refuse(response, error)
      else use(rows)
    })
  }

  #pipeline(): Pipeline {
    return this.#pipelines[this.#next++ % connections] as Pipeline
  }

  async close(): Promise<void> {
    await Promise.all(this.#pipelines.map((pipeline) => pipeline.close()))
  }
}

function first(rows: readonly Row[], status: number, response: ServerResponse): void {
  const [row] = rows
  if (row) answer(response, status, encode(row))
  else refuse(response, new Refusal(404, 'There is no such pet'))
}

const [connectionString, port] = process.argv.slice(2)
const clients = Array.from(
  { length: connections },
  () => new Client({ connectionString, pipeline: true, options: '-c TimeZone=UTC' }),
)
await Promise.all(clients.map((client) => client.connect()))
const pets = new PostgresPets(clients.map((client) => new Pipeline(client)))
servePets(pets).listen(Number(port), '127.0.0.1', () => reportToParent(() => pets.close()))
