import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import config from '../../examples/clinic/keelson.config.ts'
import { createService, type HttpServer } from '../../src/index.ts'
import { asOtherProgram, newFile } from '../support/sqlite.ts'

/*
 * The board of the clinic example: three windows of a real browser, over one HTTP/1.1 origin. The tests wait for what the
 * pages display.
 */

const browsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const program = process.env.KEELSON_TEST_CHROMIUM ?? browsers.find((path) => existsSync(path))
const missing = program === undefined ? `no Chromium at ${browsers.join(', ')}` : undefined
if (missing !== undefined) console.error(`NOT TESTED: the board in a browser: ${missing}`)

const path = newFile()
const open = () =>
  createService({
    ...config,
    database: `sqlite:${path}`,
    public: fileURLToPath(new URL('../../examples/clinic/public', import.meta.url)),
    onError: (error: unknown) => reported.push(error),
  })
const reported: unknown[] = []

/** At noon, which is the same day in most time zones. */
const noon = (minute: number) => `2026-03-02T12:0${minute}:00.000Z`

describe('the board in three windows', { skip: missing ?? false, timeout: 180_000 }, () => {
  let clinic: Awaited<ReturnType<typeof open>>
  let server: HttpServer
  let browser: Browser
  let pages: readonly Page[]
  const pageErrors: string[] = []

  before(async () => {
    clinic = await open()
    const { records } = clinic.system
    await records.species.create({ code: 'dog', label: 'Dog' })
    const ann = await records.owner.create({ name: 'Ann Adler' })
    const vet = await records.vet.create({ name: 'Dr. Vera Vogel', email: 'vera@example.com' })
    for (const [index, name] of ['Rex', 'Balu', 'Nala', 'Kira'].entries()) {
      const pet = await records.pet.create({ name, species: 'dog', owner: ann.id })
      const status = name === 'Kira' ? 'done' : 'booked'
      await records.visit.create({
        pet: pet.id,
        vet: vet.id,
        reason: `Reason of ${name}`,
        startsAt: noon(index),
        status,
      })
    }
    server = await clinic.listen(0)
    const isRoot = process.getuid?.() === 0
    browser = await chromium.launch({ executablePath: program as string, args: isRoot ? ['--no-sandbox'] : [] })
    // Windows of one browser profile share its six connections.
    const context = await browser.newContext({ timezoneId: 'Europe/Berlin', viewport: { width: 1280, height: 760 } })
    pages = await Promise.all([1, 2, 3].map(() => context.newPage()))
    for (const page of pages) {
      page.on('pageerror', (error) => pageErrors.push(error.message))
      await page.goto(`${server.url}/board.html?day=2026-03-02`)
      await page.getByText('live', { exact: true }).waitFor()
    }
  })
  after(async () => {
    await browser?.close()
    await clinic?.close()
  })

  const lane = (page: Page, status: string) => page.locator(`.lane[data-status="${status}"]`)
  const card = (page: Page, pet: string) => page.locator('.card', { has: page.getByText(pet, { exact: true }) })

  const drag = async (page: Page, pet: string, status: string): Promise<void> => {
    // A window in the background gets its mouse events late.
    await page.bringToFront()
    await card(page, pet).dragTo(lane(page, status))
  }

  /** Waits until every window displays the names of the pets in the lanes. */
  async function shown(booked: string, done: string, missed: string, windows = pages): Promise<void> {
    const expected = JSON.stringify([booked, done, missed])
    await Promise.all(
      windows.map((page) =>
        page.waitForFunction((text) => {
          const { document } = globalThis as unknown as { document: { querySelectorAll(s: string): Iterable<Lane> } }
          const lanes = [...document.querySelectorAll('.lane')]
          return (
            JSON.stringify(
              lanes.map((one) => [...one.querySelectorAll('strong')].map((b) => b.textContent).join(' ')),
            ) === text
          )
        }, expected),
      ),
    )
  }

  const setOffline = async (page: Page, offline: boolean): Promise<CDPSession> => {
    const session = await page.context().newCDPSession(page)
    await session.send('Network.emulateNetworkConditions', {
      offline,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: -1,
    })
    return session
  }

  test('show the visits of the day in their lanes', async () => {
    await shown('Rex Balu Nala', 'Kira', '')
    assert.match(
      (await card(pages[0] as Page, 'Rex').innerText()).replace(/\s+/g, ' '),
      /13:00 Rex dog · Ann Adler Dr. Vera Vogel/,
    )
  })

  test('a card that is dragged in one window moves in all', async () => {
    await drag(pages[0] as Page, 'Balu', 'done')
    await shown('Rex Nala', 'Balu Kira', '')
    await drag(pages[1] as Page, 'Kira', 'missed')
    await shown('Rex Nala', 'Balu', 'Kira')
  })

  test('a reason that is edited in one window is displayed in all', async () => {
    const reason = card(pages[2] as Page, 'Rex').getByLabel('Reason')
    await reason.fill('Ate a sock')
    await reason.press('Enter')
    await Promise.all(pages.map((page) => page.waitForFunction(hasReason, ['Rex', 'Ate a sock'] as const)))
  })

  test('a change by another program in the database moves a card', async () => {
    asOtherProgram(path, `update visit set status = 'booked' where reason = 'Reason of Kira'`)
    await shown('Rex Nala Kira', 'Balu', '')
  })

  test('a window that is offline shows its edits, and merges them when it is back', async () => {
    const [first, second, third] = pages as [Page, Page, Page]
    const session = await setOffline(first, true)
    await first.locator('#connection[data-state="lost"]').waitFor()
    await drag(first, 'Rex', 'done')
    await drag(first, 'Kira', 'missed')
    await first.locator('#connection[data-state="lost"]').waitFor()
    await first.getByText('offline · 2 changes waiting').waitFor()
    await shown('Nala', 'Rex Balu', 'Kira', [first])
    // Meanwhile other windows change the same visits: another attribute of one, and another visit.
    const reason = card(second, 'Rex').getByLabel('Reason')
    await reason.fill('Ate two socks')
    await reason.press('Enter')
    await drag(third, 'Nala', 'done')
    await shown('Rex Kira', 'Balu Nala', '', [second, third])
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: -1,
    })
    await shown('', 'Rex Balu Nala', 'Kira')
    await Promise.all(pages.map((page) => page.waitForFunction(hasReason, ['Rex', 'Ate two socks'] as const)))
    await first.getByText('live', { exact: true }).waitFor()
  })

  test('the same attribute changed in two windows is asked about', async () => {
    const [first, second] = pages as [Page, Page]
    let round = 0
    for (const [version, expected] of [
      ['Yours', 'mine 1'],
      ['Theirs', 'theirs 2'],
    ] as const) {
      const session = await setOffline(first, true)
      await first.locator('#connection[data-state="lost"]').waitFor()
      round++
      await edit(first, `mine ${round}`)
      await edit(second, `theirs ${round}`)
      await second.waitForFunction(hasReason, ['Balu', `theirs ${round}`] as const)
      await session.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput: -1,
      })
      await first.getByRole('button', { name: version }).click()
      await Promise.all(pages.map((page) => page.waitForFunction(hasReason, ['Balu', expected] as const)))
      await first.getByText('live', { exact: true }).waitFor()
    }
    async function edit(page: Page, text: string): Promise<void> {
      await card(page, 'Balu').getByLabel('Reason').fill(text)
      await card(page, 'Balu').getByLabel('Reason').press('Enter')
    }
  })

  test('after a restart of the server the windows continue', async () => {
    const { port } = server
    await clinic.close()
    await Promise.all(pages.map((page) => page.locator('#connection[data-state="lost"]').waitFor()))
    clinic = await open()
    server = await clinic.listen(port)
    await Promise.all(pages.map((page) => page.getByText('live', { exact: true }).waitFor()))
    await drag(pages[1] as Page, 'Kira', 'booked')
    await shown('Kira', 'Rex Balu Nala', '')
  })

  test('neither the pages nor the service reported errors', async () => {
    if (process.env.KEELSON_SCREENSHOT) await pages[0]?.screenshot({ path: process.env.KEELSON_SCREENSHOT })
    assert.deepEqual(pageErrors, [])
    assert.deepEqual(reported, [])
  })
})

interface Lane {
  querySelectorAll(selector: string): Iterable<{ readonly textContent: string }>
  querySelector(selector: string): { readonly textContent: string; readonly value: string } | null
}

const hasReason = ([pet, text]: readonly [string, string]): boolean => {
  const { document } = globalThis as unknown as { document: { querySelectorAll(s: string): Iterable<Lane> } }
  return [...document.querySelectorAll('.card')].some(
    (one) => one.querySelector('strong')?.textContent === pet && one.querySelector('.reason')?.value === text,
  )
}
