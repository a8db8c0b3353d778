import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { type Config, createService, type JsonObject } from '../../src/index.ts'
import { StreamClient } from '../event-stream.ts'
import type { InProcess } from '../history/in-process.ts'
import { models, settings } from '../history/models.ts'
import { SailsClient } from '../sails-client.ts'

/** A service in this process, and those who listen to it. */
export type House = Awaited<ReturnType<typeof openHouse>>

export async function openHouse(database: string, limits: Config['limits'] = {}) {
  const reported: unknown[] = []
  const report = (error: unknown) => reported.push(error)
  const service = await createService({
    ...settings,
    limits: { ...settings.limits, ...limits },
    models,
    database,
    report,
  })
  const { url, port } = await service.listen(0)
  const clients: SailsClient[] = []
  return {
    service,
    records: service.system.records,
    /** All pets, in the same process. */
    loop: (since?: string) =>
      (service.system.records as unknown as InProcess['records']).pet.live(since === undefined ? {} : { since }),
    /** A request that must be answered as it should be. */
    send: (method: string, path: string, body: JsonObject = {}) => send(url, method, path, body),
    listen: (path: string, since?: string) =>
      StreamClient.ready(port, path, since === undefined ? {} : { 'last-event-id': since }),
    /** As `listen`, where another beginning is expected. */
    open: (path: string, since: string) => StreamClient.open(port, path, { headers: { 'last-event-id': since } }),
    /** The ancestor's client, when it has found these. */
    async follow(...paths: readonly string[]): Promise<SailsClient> {
      const client = await SailsClient.connect(url)
      clients.push(client)
      for (const path of paths) assert.equal((await client.ask('get', path)).statusCode, 200)
      return client
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.close()
      await service.close()
      assert.deepEqual(reported, [])
    },
  }
}

export async function send(url: string, method: string, path: string, body: JsonObject): Promise<JsonObject> {
  const response = await fetch(url + path, {
    method,
    ...(method !== 'GET' && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  const text = await response.text()
  assert.ok(response.ok, `${method} ${path} is answered ${response.status}: ${text}`)
  return JSON.parse(text) as JsonObject
}

/** Another program, which says itself where its transactions begin and end. */
export interface Stranger extends AsyncDisposable {
  run(statements: string): Promise<void>
}

export async function strangerTo(url: string): Promise<Stranger> {
  if (url.startsWith('sqlite:')) {
    const database = new DatabaseSync(url.slice('sqlite:'.length))
    return { run: async (statements) => database.exec(statements), [Symbol.asyncDispose]: async () => database.close() }
  }
  const client = new pg.Client(url)
  await client.connect()
  return {
    run: async (statements) => void (await client.query(statements)),
    [Symbol.asyncDispose]: () => client.end(),
  }
}
