import assert from 'node:assert/strict'
import { type Config, createService, type HttpServer, type Service } from '../../../src/index.ts'
import { StreamClient } from '../../support/event-stream.ts'

const models = {
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: {
    attributes: {
      name: { type: 'string' },
      kind: { type: 'string' },
      notes: { type: 'json' },
      owner: { model: 'owner' },
    },
  },
} as const

/** A service in memory, listening, that has reported no error when it is disposed. */
export class Served implements AsyncDisposable {
  readonly service: Service
  readonly server: HttpServer
  readonly reported: unknown[]

  private constructor(service: Service, server: HttpServer, reported: unknown[]) {
    this.service = service
    this.server = server
    this.reported = reported
  }

  static async open(config: Partial<Config> = {}): Promise<Served> {
    const reported: unknown[] = []
    const service = (await createService({
      database: 'sqlite::memory:',
      onError: (error: unknown) => reported.push(error),
      ...config,
      models,
    } as never)) as unknown as Service
    return new Served(service, await service.listen(0), reported)
  }

  get pets(): Service['system']['records'][string] {
    return this.service.system.records.pet as Service['system']['records'][string]
  }

  get owners(): Service['system']['records'][string] {
    return this.service.system.records.owner as Service['system']['records'][string]
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Response> {
    return fetch(`${this.server.url}${path}`, { method, headers: { accept: 'text/event-stream', ...headers } })
  }

  ready(path: string): Promise<StreamClient> {
    return StreamClient.ready(this.server.port, path)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service.close()
    assert.deepEqual(this.reported, [])
  }
}

const heartbeatMs = 15_000

/** A clock of heartbeats, which the test advances. */
export function manualClock() {
  const due = new Set<() => void>()
  return {
    now: () => Date.now(),
    every: (ms: number, work: () => void) => {
      if (ms === heartbeatMs) due.add(work)
      return { [Symbol.dispose]: () => due.delete(work) }
    },
    due,
    pass: () => {
      for (const work of due) work()
    },
  }
}
