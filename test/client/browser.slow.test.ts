import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createService, type HttpServer } from '../../src/index.ts'
import { blocksOf } from '../docs/blocks.ts'
import { bundled } from '../support/bundled.ts'

/*
 * The page of the guide docs/live-list.md, and a page with React, in a real browser.
 */

const browsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const program = process.env.KEELSON_TEST_CHROMIUM ?? browsers.find((path) => existsSync(path))
const missing = program === undefined ? `no Chromium at ${browsers.join(', ')}` : undefined
if (missing !== undefined) console.error(`NOT TESTED: the client in a browser: ${missing}`)

const guide = readFileSync(new URL('../../docs/live-list.md', import.meta.url), 'utf8')

const application = `
import { createElement as h, startTransition, StrictMode, Suspense, use, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { createClient } from './client.ts'
import { useLive, useRecord, useWrite } from './react.ts'

const api = createClient()
const never = new Promise(() => {})
function Editor({ task, isLoading }) {
  const [rename] = useWrite((title) => api.task.update(task.id, { title }))
  if (isLoading) use(never)
  return h('button', { id: 'mark', onClick: () => rename('marked') }, task.title)
}
function App() {
  const [chosen, choose] = useState(0)
  const [isDone, setDone] = useState(false)
  const { rows, status } = useLive(() => api.task.live({ where: { done: isDone }, sort: 'title' }), [isDone])
  const { record } = useRecord(() => api.task.live({ where: { title: 'first' } }), [])
  const [rename, { isPending, error }] = useWrite((id, title) => api.task.update(id, { title }, { optimistic: true }))
  return h('main', null,
    h('p', { id: 'status' }, status),
    h('p', { id: 'record' }, record?.title ?? 'none'),
    h('p', { id: 'error' }, isPending ? 'pending' : error?.code ?? 'no error'),
    h('button', { id: 'toggle', onClick: () => setDone(!isDone) }, 'toggle'),
    h('button', { id: 'next', onClick: () => startTransition(() => choose(1)) }, 'next'),
    h(Suspense, null, rows[chosen] && h(Editor, { task: rows[chosen], isLoading: chosen > 0 })),
    h('ul', null, rows.map((task) => h('li', { key: task.id, onClick: () => rename(task.id, task.title + '!'), onDoubleClick: () => rename(task.id, '') }, task.title))))
}
createRoot(document.body).render(h(StrictMode, null, h(App)))
`

describe('the client in a browser', { skip: missing ?? false, timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-browser-'))
  const open = () =>
    createService({
      database: 'sqlite::memory:',
      public: join(folder, 'public'),
      models: {
        task: {
          attributes: {
            title: { type: 'string', required: true, minLength: 1 },
            done: { type: 'boolean', defaultsTo: false },
          },
        },
      },
    })
  let service: Awaited<ReturnType<typeof open>>
  let server: HttpServer
  let browser: Browser
  const pageErrors: string[] = []

  before(async () => {
    const page = blocksOf(guide).find(({ text }) => text.includes('index.html'))
    assert.equal(spawnSync('bash', ['-c', page?.text ?? 'exit 1'], { cwd: folder }).status, 0)
    const define = { 'process.env.NODE_ENV': '"development"' }
    writeFileSync(join(folder, 'public', 'react.js'), await bundled(application, { define }))
    writeFileSync(
      join(folder, 'public', 'react.html'),
      '<!doctype html><body><script type="module" src="react.js"></script>',
    )
    service = await open()
    server = await service.listen(0)
    const isRoot = process.getuid?.() === 0
    browser = await chromium.launch({ executablePath: program as string, args: isRoot ? ['--no-sandbox'] : [] })
  })
  after(async () => {
    await browser?.close()
    await service?.close()
    rmSync(folder, { recursive: true })
  })

  async function openPage(path: string): Promise<Page> {
    const page = await browser.newPage()
    page.on('pageerror', (error) => pageErrors.push(error.message))
    page.on(
      'console',
      (message) =>
        message.type() === 'error' &&
        !/favicon|400/.test(message.text() + message.location().url) &&
        pageErrors.push(message.text()),
    )
    await page.goto(server.url + path)
    await page.locator('#status', { hasText: 'live' }).waitFor()
    return page
  }
  const items = (page: Page, texts: readonly string[]) =>
    page.waitForFunction((expected) => {
      const { document } = globalThis as unknown as {
        document: { querySelectorAll(s: string): Iterable<{ textContent: string }> }
      }
      return JSON.stringify([...document.querySelectorAll('li')].map(({ textContent }) => textContent)) === expected
    }, JSON.stringify(texts))

  test('the page of the guide is the same in two windows', async () => {
    const pages = await Promise.all([openPage('/'), openPage('/')])
    const [first, second] = pages as [Page, Page]
    for (const title of ['Feed the cat', 'Walk the dog']) {
      await first.getByPlaceholder('What is to be done?').fill(title)
      await first.getByPlaceholder('What is to be done?').press('Enter')
      await first.getByText(title).waitFor()
    }
    await Promise.all(pages.map((page) => items(page, ['Walk the dog', 'Feed the cat'])))
    await second.getByText('Walk the dog').click()
    await Promise.all(pages.map((page) => items(page, ['Feed the cat'])))
    await service.system.records.task.create({ title: 'From the program' })
    await Promise.all(pages.map((page) => items(page, ['From the program', 'Feed the cat'])))
    await Promise.all(pages.map((page) => page.close()))
  })

  test('hooks of React follow their queries, in strict mode too', async () => {
    const { task } = service.system.records
    await task.destroyMany({ where: { id: { '!=': null } } })
    const first = await task.create({ title: 'first' })
    await task.create({ title: 'other', done: true })
    const page = await openPage('/react.html')
    await items(page, ['first'])
    await page.locator('#record', { hasText: 'first' }).waitFor()
    await task.create({ title: 'second' })
    await items(page, ['first', 'second'])
    await page.locator('#toggle').click()
    await items(page, ['other'])
    await page.locator('#toggle').click()
    await items(page, ['first', 'second'])
    await page.getByText('second').click()
    await items(page, ['first', 'second!'])
    await task.update(first.id, { title: 'renamed' })
    await page.locator('#record', { hasText: 'none' }).waitFor()
    await items(page, ['renamed', 'second!'])
    await page.evaluate(() => {
      const { document, Event } = globalThis as unknown as {
        document: { querySelector(s: string): { dispatchEvent(e: unknown): void } }
        Event: new (t: string, o: object) => unknown
      }
      document.querySelector('li').dispatchEvent(new Event('dblclick', { bubbles: true }))
    })
    await page.locator('#error', { hasText: 'E_INVALID_ATTRIBUTES' }).waitFor()
    await items(page, ['renamed', 'second!'])
  })

  test('a function that writes is that of the component as it is displayed, also while a transition is rendered', async () => {
    const { task } = service.system.records
    await task.destroyMany({ where: { id: { '!=': null } } })
    await task.createMany([{ title: 'a' }, { title: 'b' }])
    const page = await openPage('/react.html')
    await items(page, ['a', 'b'])
    await page.locator('#next').click()
    await page.locator('#mark', { hasText: 'a' }).click()
    await items(page, ['b', 'marked'])
  })

  test('the pages reported no errors', () => assert.deepEqual(pageErrors, []))
})
