import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createService, type HttpServer } from '../../src/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-files-'))
const models = { pet: { attributes: { name: { type: 'string' } } } } as const

let service: Awaited<ReturnType<typeof open>>
let server: HttpServer
const open = () =>
  createService({ database: 'memory:', models, public: folder, onError: (error) => assert.fail(String(error)) })
before(async () => {
  writeFileSync(join(folder, 'page.html'), '<h1>page</h1>')
  writeFileSync(join(folder, 'large.bin'), Buffer.alloc(20_000_000, 1))
  writeFileSync(join(folder, 'large.js'), randomBytes(6_000_000).toString('base64'))
  service = await open()
  server = await service.listen(0)
})
after(async () => {
  await service?.close()
  rmSync(folder, { recursive: true })
})

test('files are served by the HTTP server and by fetch', async () => {
  const ways = [(path: string, init?: RequestInit) => fetch(server.url + path, init)]
  ways.push((path, init) => service.fetch(new Request(`http://x${path}`, init)))
  for (const ask of ways) {
    const response = await ask('/page.html')
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(response.headers.get('content-length'), '13')
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(await response.text(), '<h1>page</h1>')

    const head = await ask('/page.html', { method: 'HEAD' })
    assert.deepEqual([head.headers.get('content-length'), await head.text()], ['13', ''])

    const etag = response.headers.get('etag') as string
    const known = await ask('/page.html', { headers: { 'if-none-match': etag } })
    assert.deepEqual([known.status, known.headers.get('etag'), await known.text()], [304, etag, ''])

    const large = await (await ask('/large.bin')).arrayBuffer()
    assert.equal(large.byteLength, 20_000_000)
    assert.equal((await ask('/nosuch.html')).status, 404)
    assert.deepEqual(await (await ask('/pet')).json(), [])
  }
})

/** True while a file of the folder is open in this process. */
const isOpen = (): boolean =>
  readdirSync('/proc/self/fd').some((number) => {
    try {
      return readlinkSync(`/proc/self/fd/${number}`).startsWith(folder)
    } catch {
      return false // the descriptor of the listing itself
    }
  })

test('an aborted download leaves no file open', {
  skip: process.platform !== 'linux' && 'only Linux lists open files',
}, async () => {
  for (let round = 0; round < 5; round++) {
    const stop = new AbortController()
    const response = await fetch(`${server.url}/large.bin`, { signal: stop.signal })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    assert.ok(isOpen())
    stop.abort()
    while (isOpen()) await turn()
  }
})

test('two files are compressed at once, so that the database has threads left; further ones are sent as they are', async () => {
  const stop = new AbortController()
  const encodingOf = async ({ signal }: AbortController) =>
    (await fetch(`${server.url}/large.js`, { signal })).headers.get('content-encoding')
  const unread = []
  for (let count = 0; count < 3; count++) unread.push(await encodingOf(stop))
  assert.deepEqual(unread, ['gzip', 'gzip', null])
  stop.abort()
  const again = new AbortController()
  while ((await encodingOf(again)) !== 'gzip') await turn()
  again.abort()
})
