import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { createApp as expressApp } from '../examples/mounted/express.ts'
import { createApp as fastifyApp } from '../examples/mounted/fastify.ts'
import { createHandler } from '../examples/mounted/fetch.ts'
import { refusedUpgrade } from './raw-socket.ts'
import { SailsClient } from './sails-client.ts'

type Ask = (path: string, init?: RequestInit) => Promise<Response>

interface Host {
  readonly ask: Ask
  close(): Promise<unknown>
  /** Where it is found, and what addresses begin with over a socket: a server around us takes nothing off those. */
  readonly sockets?: { readonly url: string; readonly prefix: string }
}

const hosts: Readonly<Record<string, () => Promise<Host>>> = {
  Express: async () => {
    const { server, service } = await expressApp('sqlite::memory:')
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return {
      ask: (path, init) => fetch(url + path, init),
      sockets: { url, prefix: '' },
      close: async () => {
        await service.close()
        const closed = new Promise((resolve) => server.close(resolve))
        server.closeIdleConnections()
        await closed
      },
    }
  },
  Fastify: async () => {
    const { app } = await fastifyApp('sqlite::memory:')
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return {
      ask: (path, init) => fetch(url + path, init),
      sockets: { url, prefix: '/api' },
      close: () => app.close(),
    }
  },
  'a fetch handler': async () => {
    const { handler, service } = await createHandler('sqlite::memory:')
    return {
      ask: (path, init) => handler(new Request(`http://service.test${path}`, init)),
      close: () => service.close(),
    }
  },
}

const json = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
})

describe('mounted in', () => {
  for (const [name, start] of Object.entries(hosts)) {
    test(name, async () => {
      const { ask, close } = await start()
      try {
        assert.deepEqual(await (await ask('/health')).json(), { ok: true })
        assert.equal((await ask('/api/author', json({ name: 'Ada' }))).status, 201)
        const form = { method: 'POST', body: new URLSearchParams({ title: 'Notes', author: '1' }) }
        assert.equal((await ask('/api/book', form)).status, 201)
        const found = (await (await ask('/api/author/1')).json()) as { books: { title: string }[] }
        assert.deepEqual(
          found.books.map((book) => book.title),
          ['Notes'],
        )
        const page = await ask('/api/book?limit=1&populate=false')
        assert.equal(page.headers.get('Link'), null)
        await ask('/api/book', json({ title: 'More' }))
        const first = await ask('/api/book?limit=1&populate=false')
        const next = /<(.*)>; rel="next"/.exec(first.headers.get('Link') ?? '')?.[1] as string
        const second = (await (await ask(next)).json()) as { title: string }[]
        assert.deepEqual(
          second.map((book) => book.title),
          ['More'],
        )
        const missing = await ask('/api/book/99')
        assert.equal(missing.status, 404)
        assert.match(missing.headers.get('Content-Type') ?? '', /problem\+json/)
        assert.equal((await ask('/api/book', json('nonsense'))).status, 400)
      } finally {
        await close()
      }
    })
  }
})

describe('sockets, mounted in', () => {
  for (const name of ['Express', 'Fastify']) {
    const start = hosts[name] as (typeof hosts)[string]
    test(`${name}, are served beside it and end with it`, async () => {
      const { ask, close, sockets } = await start()
      const { url, prefix } = sockets as NonNullable<typeof sockets>
      const client = await SailsClient.connect(url)
      const isGone = new Promise((resolve) => client.socket.on('disconnect', resolve))
      assert.equal((await client.ask('get', `${prefix}/author`)).statusCode, 200)
      await ask('/api/author', json({ name: 'Ada' }))
      assert.deepEqual(await client.until((model, { verb }) => model === 'author' && verb === 'created'), [])
      assert.equal(await (await ask('/__getcookie')).text(), '_sailsIoJSConnect();')
      await close()
      await isGone
    })

    test(`${name}, are not all that may ask to be upgraded`, async () => {
      const { close, sockets } = await start()
      await assert.rejects(refusedUpgrade(`${sockets?.url}/elsewhere`), { code: 'ECONNRESET' })
      await close()
    })
  }
})
