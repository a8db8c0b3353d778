import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../../../src/protocol/json.ts'
import type { InProcess } from './in-process.ts'
import { headersOf, queryOf, whereOf } from './listener.ts'
import { fenceId, memberships, modelNames } from './models.ts'
import { userNames } from './rules.ts'
import type { Server } from './server.ts'
import { followsMembers, Violation, type Watching } from './view.ts'

/** In a history with rules there are more than are asked for after one step. */
const listsPerCheck = 3

/**
 * The same lists and records, asked for again and again at every service: each keeps answers of its own. They must be what the tables hold, which
 * is read in this process, where no answer is kept.
 */
export class RepeatedReads {
  readonly #servers: readonly Server[]
  readonly #inProcess: InProcess
  readonly #lists: readonly Watching[]
  #next = 0
  /** How often an answer was compared. */
  compared = 0

  constructor(servers: readonly Server[], inProcess: InProcess, isRuled: boolean) {
    this.#servers = servers
    this.#inProcess = inProcess
    const all = modelNames.map((model): Watching => ({ model, isHeavy: false }))
    this.#lists = isRuled
      ? [...all, ...userNames.flatMap((user) => all.map((watching) => ({ ...watching, user })))]
      : [...all, { model: 'pet', isHeavy: true }]
  }

  /** To be called while nothing is written. The second answer of a service may be one that it has kept. */
  async check(): Promise<void> {
    for (let count = 0; count < listsPerCheck; count++)
      await this.#checkOne(this.#lists[this.#next++ % this.#lists.length] as Watching)
  }

  async #checkOne(watching: Watching): Promise<void> {
    const expected = await this.#read(watching)
    const tags = new Set<string | null>()
    const fail = async (message: string): Promise<void> => {
      // A server that was killed may have left a write to the database that ends only now.
      if (isDeepStrictEqual(await this.#read(watching), expected)) throw new Violation(message)
    }
    for (let again = 0; again < 2; again++)
      for (const [service, send] of this.#services()) {
        const { model } = watching
        const query = Object.entries(queryOf(watching)).map(([name, value]) => [name, String(value)])
        const response = await send(`/${model}?${new URLSearchParams(query)}`, { headers: headersOf(watching) })
        const records = (await response.json()) as JsonObject[]
        if (response.status !== 200) throw new Violation(`${service} answered ${response.status} to a list`)
        const difference = differenceOf(records, expected)
        if (difference) return fail(`${service}, list of ${model} as ${watching.user}: ${difference}`)
        tags.add(response.headers.get('etag'))
        const mark = await markOf(await send(`/${model}/${fenceId}`, { headers: headersOf(watching) }))
        if (mark !== expected.find(({ id }) => id === fenceId)?.mark)
          return fail(`${service}, ${model} ${fenceId}: ${mark}`)
        this.compared++
      }
    if (tags.size > 1) return fail(`one list of ${watching.model} has the tags ${[...tags].join(' ')}`)
  }

  #services(): readonly (readonly [string, InProcess['fetch']])[] {
    const servers = this.#servers.flatMap(({ url }, index) =>
      url === undefined
        ? []
        : [[`server ${index}`, (path: string, init: RequestInit) => fetch(url + path, init)] as const],
    )
    return [...servers, ['the service of this process', this.#inProcess.fetch]]
  }

  async #read(watching: Watching): Promise<readonly JsonObject[]> {
    const { model, user } = watching
    const populate = followsMembers(watching)
      ? { [memberships[model].attribute]: { limit: 10_000, select: ['id'] } }
      : false
    const options = { limit: 10_000, where: whereOf(watching), populate }
    const { data } = await this.#inProcess.recordsOf(user)[model].find(options)
    // As JSON, as clients receive it.
    return JSON.parse(JSON.stringify(data)) as JsonObject[]
  }
}

const markOf = async (response: Response) => ((await response.json()) as JsonObject).mark

function differenceOf(records: readonly JsonObject[], expected: readonly JsonObject[]): string | undefined {
  if (records.length !== expected.length) return `${records.length} records, and ${expected.length} are stored`
  const index = records.findIndex((record, index) => !isDeepStrictEqual(record, expected[index]))
  return index === -1 ? undefined : `${JSON.stringify(records[index])} is ${JSON.stringify(expected[index])}`
}
