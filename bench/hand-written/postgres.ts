import type { ServerResponse } from 'node:http'
import { Client } from 'pg'
import { reportToParent } from '../child.ts'
import { answer, type Pets, refuse, servePets } from './http.ts'
import { columns, quote, Refusal, readChanges, readList, readNewPet, type Stored, selectList } from './pet.ts'

/*
 * The limit: a server for one table that somebody wrote by hand who knew how fast PostgreSQL can be from Node. A few
 * pipelined connections, named statements, and rows whose columns stay the text that the database sent.
 */

const connections = 4
const placeholder = (number: number): string => `$${number}`
const asText = { getTypeParser: () => (value: string) => value }

type Row = readonly (string | null)[]

const text = (value: string | null | undefined): string => (typeof value === 'string' ? quote(value) : 'null')

/** '2025-06-15 15:06:41.5+00' is '2025-06-15T15:06:41.500Z'. */
function time(value: string): string {
  const fraction = value.length > 22 ? value.slice(20, -3).padEnd(3, '0') : '000'
  return `${value.slice(0, 10)}T${value.slice(11, 19)}.${fraction}Z`
}

function encode(row: Row): string {
  return (
    `{"id":${row[0]},"name":${text(row[1])},"kind":${text(row[2])},"breed":${text(row[3])},"note":${text(row[4])}` +
    `,"age":${row[5]},"weight":${row[6]},"tags":${row[7]},"details":${row[8]}` +
    `,"vaccinated":${row[9] === null ? 'null' : row[9] === 't'}` +
    `,"createdAt":"${time(row[10] as string)}","updatedAt":"${time(row[11] as string)}"}`
  )
}

function encodeAll(rows: readonly Row[]): string {
  if (rows.length === 0) return '[]'
  let list = `[${encode(rows[0] as Row)}`
  for (let index = 1; index < rows.length; index++) list += `,${encode(rows[index] as Row)}`
  return `${list}]`
}

class PostgresPets implements Pets {
  readonly #clients: readonly Client[]
  readonly #names = new Map<string, string>()
  readonly #insert: string
  #next = 0

  constructor(clients: readonly Client[]) {
    this.#clients = clients
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

  #query(text: string, values: Stored[], response: ServerResponse, use: (rows: readonly Row[]) => void): void {
    const client = this.#clients[this.#next++ % connections] as Client
    client.query({ name: this.#name(text), text, values, rowMode: 'array' }, (error, result) => {
      if (error) refuse(response, error)
      else use(result.rows as readonly Row[])
    })
  }

  #name(text: string): string {
    let name = this.#names.get(text)
    if (name === undefined) {
      name = `pet_${this.#names.size}`
      this.#names.set(text, name)
    }
    return name
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.end()))
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
  () => new Client({ connectionString, pipeline: true, types: asText, options: '-c TimeZone=UTC' }),
)
await Promise.all(clients.map((client) => client.connect()))
const pets = new PostgresPets(clients)
servePets(pets).listen(Number(port), '127.0.0.1', () => reportToParent(() => pets.close()))
