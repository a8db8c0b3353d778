import assert from 'node:assert/strict'
import { type Config, createService, type ModelDefinitions, type Service } from '../../../src/index.ts'
import type { Json, JsonObject } from '../../../src/protocol/json.ts'
import { StreamClient } from '../../support/event-stream.ts'

const models = {
  owner: {
    attributes: {
      name: { type: 'string', required: true },
      city: { type: 'string' },
      pets: { collection: 'pet', via: 'owner' },
      tags: { collection: 'tag', via: 'owners' },
      shops: { collection: 'shop', through: 'visit', via: 'owner' },
    },
  },
  pet: {
    attributes: {
      name: { type: 'string', required: true },
      kind: { type: 'string', defaultsTo: 'cat' },
      weight: { type: 'number' },
      owner: { model: 'owner' },
    },
  },
  shop: { attributes: { owners: { collection: 'owner', through: 'visit', via: 'shop' } } },
  visit: { attributes: { owner: { model: 'owner' }, shop: { model: 'shop' } } },
  tag: { attributes: { label: { type: 'string', unique: true }, owners: { collection: 'owner', via: 'tags' } } },
} satisfies ModelDefinitions

/** A service over one database, with the clients that a test needs. */
export interface ServedStreams extends AsyncDisposable {
  readonly service: Service
  readonly port: number
  readonly reported: readonly unknown[]
  send(method: string, path: string, body?: Json): Promise<JsonObject>
  ready(path: string, headers?: Readonly<Record<string, string>>): Promise<StreamClient>
  open: (path: string, headers?: Readonly<Record<string, string>>) => Promise<StreamClient>
}

export async function serveStreams(database: string, config: Partial<Config> = {}): Promise<ServedStreams> {
  const reported: unknown[] = []
  const service = (await createService({
    attributes: { createdAt: false, updatedAt: false },
    onError: (error) => reported.push(error),
    ...config,
    models: models as ModelDefinitions,
    database,
  })) as Service
  const server = await service.listen(0)
  const { port } = server
  return {
    service,
    port,
    reported,
    async send(method, path, body) {
      const request = { method, headers: { 'content-type': 'application/json' } }
      const response = await fetch(`${server.url}${path}`, {
        ...request,
        body: body === undefined ? null : JSON.stringify(body),
      })
      assert.ok(response.ok, `${method} ${path}: ${response.status}`)
      return (await response.json()) as JsonObject
    },
    ready: (path, headers) => StreamClient.ready(port, path, headers),
    open: (path, headers = {}) => StreamClient.open(port, path, { headers }),
    [Symbol.asyncDispose]: () => service.close(),
  }
}
