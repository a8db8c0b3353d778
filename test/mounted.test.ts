import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { createApp as expressApp } from '../examples/mounted/express.ts'
import { createApp as fastifyApp } from '../examples/mounted/fastify.ts'
import { createHandler } from '../examples/mounted/fetch.ts'

type Ask = (path: string, init?: RequestInit) => Promise<Response>

const hosts: Readonly<Record<string, () => Promise<{ ask: Ask; close(): Promise<unknown> }>>> = {
  Express: async () => {
    const { app, service } = await expressApp('sqlite::memory:')
    const server = createServer(app).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    return {
      ask: (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init),
      close: async () => {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
        await service.close()
      },
    }
  },
  Fastify: async () => {
    const { app } = await fastifyApp('sqlite::memory:')
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return { ask: (path, init) => fetch(url + path, init), close: () => app.close() }
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
