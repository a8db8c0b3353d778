import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { databases } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { HttpConnection } from '../support/http-connection.ts'
import { SailsClient } from '../support/sails-client.ts'

const names = ['first', 'second', 'third']
const items = names.map((name) => ({ method: 'POST', url: '/pet', body: { name } }))
const path = '/batch?atomic=false'
const body = JSON.stringify(items)
const headers = { 'content-type': 'application/json' }

/** What a client sends the batch to, and what disconnects it. */
type Send = (server: {
  readonly url: string
  readonly port: number
  readonly fetch: (request: Request) => Promise<Response>
}) => Promise<() => void>

const clients: readonly (readonly [name: string, send: Send])[] = [
  [
    'HTTP',
    async ({ port }) => {
      const client = new HttpConnection(port)
      const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
      client.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
      return () => client.socket.destroy()
    },
  ],
  [
    'fetch',
    async ({ fetch }) => {
      const controller = new AbortController()
      const { signal } = controller
      fetch(new Request(`http://localhost${path}`, { method: 'POST', headers, body, signal })).catch(() => {})
      return () => controller.abort()
    },
  ],
  [
    'a socket',
    async ({ url }) => {
      const client = await SailsClient.connect(url, { transports: ['websocket'] })
      client.ask('post', path, items).catch(() => {})
      return () => client.close()
    },
  ],
]

for (const { name, missing, open } of databases) {
  describe(`a batch that is not atomic, on ${name}`, { skip: missing ?? false }, () => {
    for (const [transport, send] of clients)
      test(`over ${transport} ends before its next request when its client has disconnected`, async () => {
        await using database = await open()
        const isReached = Promise.withResolvers<void>()
        const isGone = Promise.withResolvers<void>()
        const service = await createService({
          database: database.url,
          models: {
            pet: {
              attributes: { name: { type: 'string' } },
              hooks: {
                before: {
                  create: async ({ name }) => {
                    if (name !== 'second') return
                    isReached.resolve()
                    await isGone.promise
                  },
                },
              },
            },
          },
        })
        const { pet } = service.system.records
        try {
          const { url, port } = await service.listen(0, '127.0.0.1')
          const disconnect = await send({ url, port, fetch: service.fetch })
          await isReached.promise
          disconnect()
          // The end of a connection is read before those that are opened afterwards are answered.
          const answered = async () => {
            for (let count = 0; count < 3; count++)
              await (await fetch(`${url}/pet`, { headers: { connection: 'close' } })).text()
          }
          await answered()
          isGone.resolve()
          const stored = async () => (await pet.find({ sort: 'id' })).data.map(({ name }) => name)
          await eventually(async () => (await stored()).includes('second'))
          await answered()
          assert.deepEqual(await stored(), ['first', 'second'])
        } finally {
          await service.close()
        }
      })
  })
}
