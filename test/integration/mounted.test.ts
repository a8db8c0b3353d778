import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { io } from 'socket.io-client'
import { createApp as expressApp } from '../../examples/mounted/express.ts'
import { createApp as fastifyApp } from '../../examples/mounted/fastify.ts'
import { createHandler } from '../../examples/mounted/fetch.ts'
import { RawPolling } from '../support/raw-polling.ts'
import { refusedUpgrade } from '../support/raw-socket.ts'
import { SailsClient } from '../support/sails-client.ts'

/** The authentication of the surrounding application. Old clients cannot send headers with a WebSocket handshake. */
const isSignedIn = ({ headers, url = '' }: IncomingMessage): boolean =>
  headers.cookie === 'session=1' || url.includes('token=1')
const cookie = { Cookie: 'session=1' }

const withCookie = (init: RequestInit = {}): RequestInit => ({
  ...init,
  headers: { ...cookie, ...(init.headers as Record<string, string>) },
})

type Ask = (path: string, init?: RequestInit) => Promise<Response>

interface Host {
  readonly ask: Ask
  close(): Promise<unknown>
  /** The address, and the prefix of paths over a socket: the surrounding server does not strip it there. */
  readonly sockets?: { readonly url: string; readonly prefix: string }
}

const hosts: Readonly<Record<string, () => Promise<Host>>> = {
  Express: async () => {
    const { server, service } = await expressApp('sqlite::memory:', isSignedIn)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return {
      ask: (path, init) => fetch(url + path, withCookie(init)),
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
    const { app } = await fastifyApp('sqlite::memory:', isSignedIn)
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return {
      ask: (path, init) => fetch(url + path, withCookie(init)),
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
    test(`${name}: sockets are served and end with the server`, async () => {
      const { ask, close, sockets } = await start()
      const { url, prefix } = sockets as NonNullable<typeof sockets>
      const client = await SailsClient.connect(url, { query: 'token=1' })
      const isGone = new Promise((resolve) => client.socket.on('disconnect', resolve))
      assert.equal((await client.ask('get', `${prefix}/author`)).statusCode, 200)
      await ask('/api/author', json({ name: 'Ada' }))
      assert.deepEqual(await client.until((model, { verb }) => model === 'author' && verb === 'created'), [])
      assert.equal(await (await ask('/__getcookie')).text(), '_sailsIoJSConnect();')
      await close()
      await isGone
    })

    test(`${name}: other upgrade requests are left to the server`, async () => {
      const { close, sockets } = await start()
      await assert.rejects(refusedUpgrade(`${sockets?.url}/elsewhere`, cookie), { code: 'ECONNRESET' })
      await close()
    })

    test(`${name}, serve long polling, also with a WebSocket it is upgraded to`, async () => {
      const { ask, close, sockets } = await start()
      const { url, prefix } = sockets as NonNullable<typeof sockets>
      const polling = await RawPolling.connect(url, { headers: cookie })
      assert.equal((await polling.ask('get', { url: `${prefix}/author` })).statusCode, 200)
      const client = io(url, { forceNew: true, extraHeaders: cookie })
      await once(client as never, 'connect')
      while (client.io.engine.transport.name !== 'websocket') await turn()
      assert.equal((await client.emitWithAck('get', { url: `${prefix}/author` })).statusCode, 200)
      const events = [polling.poll(), once(client as never, 'author')]
      await ask('/api/author', json({ name: 'Ada' }))
      await Promise.all(events)
      client.disconnect()
      await close()
    })

    test(`${name}, are not served without the authentication of the application`, async () => {
      const { close, sockets } = await start()
      const { url } = sockets as NonNullable<typeof sockets>
      assert.equal((await fetch(`${url}/api/author`)).status, 401)
      assert.equal((await fetch(`${url}/socket.io/?EIO=4&transport=polling`)).status, 401)
      await assert.rejects(refusedUpgrade(`${url}/socket.io/?EIO=4&transport=websocket`), { code: 'ECONNRESET' })
      const polling = await RawPolling.open(url, { headers: cookie })
      assert.equal((await fetch(polling.url)).status, 401)
      await assert.rejects(refusedUpgrade(polling.url.replace('polling', 'websocket')), { code: 'ECONNRESET' })
      await close()
    })
  }
})
