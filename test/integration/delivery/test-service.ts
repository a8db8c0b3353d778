import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { type Config, createService, type JsonObject } from '../../../src/index.ts'
import type { InProcess } from '../../chaos/history/in-process.ts'
import { models, settings } from '../../chaos/history/models.ts'
import { StreamClient } from '../../support/event-stream.ts'
import { SailsClient } from '../../support/sails-client.ts'

/** A service in this process, with its clients. */
export type TestService = Awaited<ReturnType<typeof openTestService>>

export async function openTestService(database: string, limits: Config['limits'] = {}) {
  const reported: unknown[] = []
  const onError = (error: unknown) => reported.push(error)
  const service = await createService({
    ...settings,
    limits: { ...settings.limits, ...limits },
    models,
    database,
    onError,
  })
  const { url, port } = await service.listen(0)
  const clients: SailsClient[] = []
  return {
    service,
    records: service.system.records,
    /** All pets, in the same process. */
    loop: (since?: string) =>
      (service.system.records as unknown as ReturnType<InProcess['recordsOf']>).pet.live(
        since === undefined ? {} : { since },
      ),
    /** A request that must be answered as it should be. */
    send: (method: string, path: string, body: JsonObject = {}) => send(url, method, path, body),
    listen: (path: string, since?: string) =>
      StreamClient.ready(port, path, since === undefined ? {} : { 'last-event-id': since }),
    /** As `listen`, where another beginning is expected. */
    open: (path: string, since: string) => StreamClient.open(port, path, { headers: { 'last-event-id': since } }),
    /** A client of Sails that has found these. */
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

/** A connection of another program, which begins and ends its transactions itself. */
export interface SqlSession extends AsyncDisposable {
  run(statements: string): Promise<void>
}

export async function openSqlSession(url: string): Promise<SqlSession> {
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
