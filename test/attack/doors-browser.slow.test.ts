import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createService, type HttpServer, type Service } from '../../src/index.ts'

/* What doors.test.ts sends by hand, sent by a browser: pages of the service go on, and those of others write and read nothing. */

const browsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const program = process.env.KEELSON_TEST_CHROMIUM ?? browsers.find((path) => existsSync(path))
const missing = program === undefined ? `no Chromium at ${browsers.join(', ')}` : undefined
if (missing !== undefined) console.error(`NOT TESTED: doors in a browser: ${missing}`)

const models = { pet: { attributes: { name: { type: 'string' } } } } as const
const markup = '<!doctype html><title>page</title>'

describe('in a browser', { skip: missing ?? false }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-doors-'))
  let service: Service<typeof models>
  let server: HttpServer
  let others: Server
  let browser: Browser
  let page: Page
  let port: number

  before(async () => {
    writeFileSync(join(folder, 'page.html'), markup)
    service = await createService({ models, database: 'memory:', public: folder })
    server = await service.listen(0)
    await service.system.records.pet.create({ name: 'Rex' })
    others = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(markup)).listen(0)
    port = (others.address() as AddressInfo).port
    const names = '--host-resolver-rules=MAP *.example 127.0.0.1'
    browser = await chromium.launch({ executablePath: program as string, args: ['--no-sandbox', names] })
    page = await browser.newPage()
  })
  after(async () => {
    await browser.close()
    others.close()
    await service.close()
    rmSync(folder, { recursive: true })
  })

  const count = () => service.system.records.pet.count()

  /** Runs in the page: the body of a function, of an address. */
  const run = (body: string, url: string): Promise<unknown> =>
    page.evaluate(`(async (url) => { ${body} })(${JSON.stringify(url)})`)

  /** Each way of a page to reach an address; resolves with what it could see. */
  const ways = {
    image: (url: string) =>
      run(
        'return new Promise((done) => Object.assign(new Image(), { onload: () => done(), onerror: () => done(), src: url }))',
        `${url}/pet/create?name=Image`,
      ),
    fetch: (url: string) =>
      run(
        `const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"name":"Fetch"}' }
         return fetch(url, init).then(({ status }) => status, () => 'refused')`,
        `${url}/pet`,
      ),
    simple: (url: string) =>
      run(
        `const init = { method: 'POST', mode: 'no-cors', body: '{"name":"Text"}' }
         return fetch(url, init).then(() => 'sent', () => 'refused')`,
        `${url}/pet`,
      ),
    jsonp: (url: string) =>
      run(
        `return new Promise((done) => {
           window.seen = (value) => done(JSON.stringify(value))
           const script = Object.assign(document.createElement('script'), { src: url, onerror: () => done('refused') })
           document.head.append(script)
         })`,
        `${url}/pet?callback=seen`,
      ),
    socket: (url: string) =>
      run(
        `return new Promise((done) => Object.assign(new WebSocket(url), { onopen: () => done('open'), onerror: () => done('refused') }))`,
        `${url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`,
      ),
  }

  test('a page of the service reads and writes by all of them', async () => {
    await page.goto(`${server.url}/page.html`)
    const before = await count()
    await ways.image(server.url)
    assert.equal(await ways.fetch(server.url), 201)
    assert.equal(await count(), before + 2)
    assert.match(String(await ways.jsonp(server.url)), /Rex/)
    assert.equal(await ways.socket(server.url), 'open')
  })

  test('so does one that was typed into the address bar', async () => {
    const before = await count()
    await page.goto(`${server.url}/pet/create?name=Typed`)
    assert.equal(await count(), before + 1)
  })

  for (const host of ['evil.example', '127.0.0.1']) {
    test(`a page of ${host} on another port writes nothing, and opens no socket`, async () => {
      await page.goto(`http://${host}:${port}/`)
      const before = await count()
      await ways.image(server.url)
      assert.equal(await ways.fetch(server.url), 'refused')
      await ways.simple(server.url)
      assert.equal(await ways.socket(server.url), 'refused')
      // Loopback addresses are the same site.
      if (host === 'evil.example') assert.equal(await ways.jsonp(server.url), 'refused')
      await page.setContent(`<form method="post" action="${server.url}/pet"><input name="name" value="Form"></form>`)
      await Promise.all([page.waitForNavigation(), page.evaluate('document.forms[0].submit()')])
      assert.equal(await count(), before)
    })
  }

  test('a page whose name was rebound to the service reaches nothing', async () => {
    const url = `http://rebound.example:${server.port}`
    const before = await count()
    assert.equal((await page.goto(`${url}/page.html`))?.status(), 403)
    assert.equal(await ways.fetch(url), 403)
    await ways.image(url)
    assert.equal(await ways.jsonp(url), 'refused')
    assert.equal(await ways.socket(url), 'refused')
    assert.equal(await count(), before)
  })
})
