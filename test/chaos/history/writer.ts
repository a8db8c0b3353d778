import type { JsonObject } from '../../../src/protocol/json.ts'
import { SailsClient } from '../../support/sails-client.ts'
import type { Connection } from './connection.ts'
import type { ForeignWriter } from './foreign-writer.ts'
import type { Marks, Result } from './marks.ts'
import { fenceId, heavy, type ModelName, pairs } from './models.ts'
import type { Server } from './server.ts'
import type { Write } from './steps.ts'
import type { Sql } from './tables.ts'

/** What is planned of a service, with what it is worth to be remembered by. */
interface PlannedRequest {
  readonly method: 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: JsonObject | readonly number[]
}

/** Writes in every way there is, and remembers what is there as far as it was received. */
export class Writer {
  readonly #servers: readonly Server[]
  readonly #foreignWriter: ForeignWriter
  readonly #marks: Marks
  readonly #sockets = new Map<string, Promise<SailsClient>>()
  readonly #ids: Record<ModelName, number[]> = { owner: [], pet: [], tag: [] }
  #gone: number | undefined
  done = 0
  unknown = 0

  constructor(servers: readonly Server[], foreignWriter: ForeignWriter, marks: Marks) {
    this.#servers = servers
    this.#foreignWriter = foreignWriter
    this.#marks = marks
  }

  async write(write: Write): Promise<void> {
    const mark = this.#marks.next()
    const { result, isMarked } = await this.#do(write, mark)
    this.#marks.settle(mark, isMarked || result === 'refused' ? result : 'unknown')
    if (result === 'done') this.done++
    if (result === 'unknown') this.unknown++
  }

  /** A listener changes a pet over its own connection. */
  async writeOverListeners({ one }: Write, patch: NonNullable<Connection['patch']>): Promise<void> {
    const mark = this.#marks.next()
    const path = `/pet/${this.#pick('pet', one)}`
    const answered = await patch(path, { mark })
    const result = answered ? this.#result(path, 'PATCH', answered.statusCode, answered.body) : 'unknown'
    this.#marks.settle(mark, result)
    if (result === 'done') this.done++
  }

  /** `isMarked`: if it is done, the mark stands somewhere. */
  async #do(write: Write, mark: string): Promise<{ readonly result: Result; readonly isMarked: boolean }> {
    // The statements of a foreign writer may affect no row.
    if (write.by === 'foreign')
      return {
        result: await this.#asForeign(write, mark),
        isMarked: write.what === 'create owner with pets' || write.what === 'create tag',
      }
    const planned = this.#planned(write, mark)
    const result = await (write.by === 'http' ? this.#overHttp(write, planned) : this.#overSocket(write, planned))
    return { result, isMarked: planned.method === 'POST' || planned.method === 'PATCH' }
  }

  #planned({ what, one, other }: Write, mark: string): PlannedRequest {
    const pet = this.#pick('pet', one)
    const tag = this.#pick('tag', other)
    const owner = this.#pick('owner', other)
    const some = (model: ModelName) => [...new Set([this.#pick(model, one), this.#pick(model, other)])]
    switch (what) {
      case 'create pet':
        return {
          method: 'POST',
          path: '/pet',
          body: { mark, weight: one % 100, owner: other % 2 === 0 ? owner : null },
        }
      case 'create pet with tags':
        return { method: 'POST', path: '/pet', body: { mark, weight: one % 100, tags: some('tag') } }
      case 'create owner with pets':
        return { method: 'POST', path: '/owner', body: { mark, pets: some('pet') } }
      case 'create tag':
        return { method: 'POST', path: '/tag', body: { mark } }
      case 'update pet':
      case 'update pet twice at once':
      case 'many':
      case 'swap pet keys':
      case 'reuse pet key':
      case 'leave filter and destroy':
      case 'move and destroy':
      case 'create and destroy':
        return { method: 'PATCH', path: `/pet/${pet}`, body: { mark, weight: other % 100 } }
      case 'give pet away':
        return { method: 'PATCH', path: `/pet/${pet}`, body: { mark, owner } }
      case 'update owner':
      case 'reuse owner key':
        return { method: 'PATCH', path: `/owner/${owner}`, body: { mark } }
      case 'destroy pet':
        return { method: 'DELETE', path: `/pet/${pet}` }
      case 'destroy owner':
        return { method: 'DELETE', path: `/owner/${owner}` }
      case 'destroy tag':
        return { method: 'DELETE', path: `/tag/${tag}` }
      case 'add tag':
        return { method: 'PUT', path: `/pet/${pet}/tags/${tag}` }
      case 'remove tag':
        return { method: 'DELETE', path: `/pet/${pet}/tags/${tag}` }
      case 'replace tags':
        return { method: 'PUT', path: `/pet/${pet}/tags`, body: some('tag') }
      case 'replace pets':
        return { method: 'PUT', path: `/owner/${owner}/pets`, body: some('pet') }
      case 'refused':
        return { method: 'POST', path: '/pet', body: { mark, weight: 'heavy' } }
    }
  }

  async #asForeign({ what, one, other }: Write, mark: string): Promise<Result> {
    const pet = this.#pick('pet', one)
    const tag = this.#pick('tag', other)
    const owner = this.#pick('owner', other)
    const added: Sql = [`insert into ${pairs.table} (${pairs.pet}, ${pairs.tag}) values (?, ?)`, [pet, tag]]
    const untagged = (column: 'pet' | 'tag', id: number): Sql => [
      `delete from ${pairs.table} where ${pairs[column]} = ?`,
      [id],
    ]
    const updated: Sql = ['update pet set mark = ?, weight = ? where id = ?', [mark, other % 100, pet]]
    const destroyed: readonly Sql[] = [['delete from pet where id = ?', [pet]]]
    const write = async (...statements: readonly Sql[]): Promise<Result> =>
      (await this.#foreignWriter.write(statements)) ? 'done' : 'refused'
    switch (what) {
      case 'create pet':
      case 'create pet with tags': {
        // The key of a destroyed record may be used again.
        const again = this.#gone
        this.#gone = undefined
        if (again === undefined) return write(['insert into pet (mark, weight) values (?, ?)', [mark, one % 100]])
        this.#ids.pet.push(again)
        return write(['insert into pet (id, mark, weight) values (?, ?, ?)', [again, mark, one % 100]])
      }
      case 'create owner with pets':
        return write(['insert into owner (mark) values (?)', [mark]], updated)
      case 'create tag':
        return write(['insert into tag (mark) values (?)', [mark]])
      case 'update pet':
        return write(updated)
      case 'update pet twice at once':
        return write(updated, ['update pet set weight = 100 - weight where id = ?', [pet]])
      case 'give pet away':
        return write(['update pet set mark = ?, owner = ? where id = ?', [mark, owner, pet]])
      case 'update owner':
        return write(['update owner set mark = ? where id = ?', [mark, owner]])
      case 'destroy pet': {
        const result = await write(untagged('pet', pet), ['delete from pet where id = ?', [pet]])
        if (result === 'done') this.#gone = pet
        return result
      }
      case 'destroy owner':
        return write(
          ['update pet set owner = null where owner = ?', [owner]],
          ['delete from owner where id = ?', [owner]],
        )
      case 'destroy tag':
        return write(untagged('tag', tag), ['delete from tag where id = ?', [tag]])
      case 'add tag':
        return write(added)
      case 'remove tag':
      case 'replace tags':
        return write(untagged('pet', pet), added)
      case 'replace pets':
        return write(['update pet set owner = ? where id % 7 = ? and id <> 1', [owner, one % 7]])
      case 'swap pet keys': {
        const second = this.#pick('pet', other)
        const rename = (from: number, to: number): Sql => ['update pet set id = ? where id = ?', [to, from]]
        const keys = [rename(pet, -1), rename(second, pet), rename(-1, second)]
        return pet === second ? 'refused' : write(untagged('pet', pet), untagged('pet', second), ...keys)
      }
      case 'reuse pet key':
        return write(untagged('pet', pet), ...destroyed, [
          'insert into pet (id, mark, weight) values (?, ?, ?)',
          [pet, mark, other % 100],
        ])
      case 'leave filter and destroy':
        return write(
          ['update pet set weight = 100 - weight, mark = ? where id = ?', [mark, pet]],
          untagged('pet', pet),
          ...destroyed,
        )
      case 'move and destroy':
        return write(['update pet set owner = ? where id = ?', [owner, pet]], untagged('pet', pet), ...destroyed)
      case 'create and destroy': {
        const result = await write(
          ['insert into pet (id, mark, weight, owner) values (?, ?, ?, ?)', [1_000_000, mark, heavy, owner]],
          [`insert into ${pairs.table} (${pairs.pet}, ${pairs.tag}) values (?, ?)`, [1_000_000, tag]],
          ['update pet set weight = 1 where id = ?', [1_000_000]],
          untagged('pet', 1_000_000),
          ['delete from pet where id = ?', [1_000_000]],
        )
        // Of one operation it must not be received.
        return this.#foreignWriter.isOneOperation ? 'refused' : result
      }
      case 'reuse owner key':
        return write(
          ['update pet set owner = null where owner = ?', [owner]],
          ['delete from owner where id = ?', [owner]],
          ['insert into owner (id, mark) values (?, ?)', [owner, mark]],
          ['update pet set owner = ? where id = ?', [owner, pet]],
        )
      case 'refused':
        await this.#foreignWriter.write([updated, ['insert into tag (mark) values (?)', [mark]]], 'rollback')
        return 'refused'
      case 'many':
        return write(['update pet set weight = (weight + ?) % 100 where id % 3 = ? and id <> 1', [one % 60, other % 3]])
    }
  }

  async #overHttp({ server }: Write, { method, path, body }: PlannedRequest): Promise<Result> {
    const url = this.#urlOf(server)
    if (url === undefined) return 'unknown'
    try {
      const response = await fetch(url + path, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      })
      // A record that its writer may not read has no body.
      const answer = response.status === 204 ? {} : ((await response.json()) as JsonObject)
      return this.#result(path, method, response.status, answer)
    } catch (error) {
      if (error instanceof WrongAnswer || this.#urlOf(server) === url) throw error
      return 'unknown'
    }
  }

  async #overSocket({ server }: Write, { method, path, body }: PlannedRequest): Promise<Result> {
    const url = this.#urlOf(server)
    if (url === undefined) return 'unknown'
    const connected = this.#sockets.get(url) ?? SailsClient.connect(url)
    this.#sockets.set(url, connected)
    const client = await connected.catch(() => undefined)
    if (!client?.socket.isConnected()) {
      this.#sockets.delete(url)
      return 'unknown'
    }
    const lost = new Promise<undefined>((resolve) => client.socket.on('disconnect', () => resolve(undefined)))
    const answered = await Promise.race([client.ask(method.toLowerCase(), path, body), lost])
    return answered ? this.#result(path, method, answered.statusCode, answered.body) : 'unknown'
  }

  #result(path: string, method: string, status: number, body: JsonObject): Result {
    if (!status || status === 503) return 'unknown' // the client's own answer when the connection ended is without one
    if (status >= 500) throw new WrongAnswer(`${method} ${path} was answered ${status}: ${JSON.stringify(body)}`)
    if (status >= 300) return 'refused'
    if (method === 'POST' && body.id !== undefined) this.#ids[path.slice(1) as ModelName].push(body.id as number)
    return 'done'
  }

  #urlOf(server: number): string | undefined {
    return this.#servers[server % this.#servers.length]?.url
  }

  /** One that was there not long ago, and is likely to be there still. */
  #pick(model: ModelName, number: number): number {
    const ids = this.#ids[model]
    const recent = ids.slice(-30)
    return recent[number % recent.length] ?? fenceId + 1
  }

  /** Some of each, so that there is something to change. */
  async fill(): Promise<void> {
    for (let one = 0; one < 6; one++) {
      for (const what of ['create tag', 'create owner with pets', 'create pet with tags'] as const)
        await this.write({ what, by: 'http', server: 0, one, other: one + 1 })
    }
  }

  async close(): Promise<void> {
    for (const connected of this.#sockets.values()) (await connected.catch(() => undefined))?.close()
  }
}

/** A failure of the service, whatever else may happen. */
export class WrongAnswer extends Error {}
