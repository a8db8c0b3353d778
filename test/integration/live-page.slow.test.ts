import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { catalogue } from '../../examples/clinic/access.ts'
import { models } from '../../examples/clinic/models.ts'
import { identify } from '../../examples/clinic/users.ts'
import { createService, type HttpServer } from '../../src/index.ts'
import { asOtherProgram, newFile } from '../support/sqlite.ts'

/** The part of the browser's window that these tests use. */
interface Window {
  readonly document: { querySelectorAll(selector: string): Iterable<Item> }
}
interface Item {
  querySelector(selector: string): { readonly textContent: string; readonly value: string } | null
}

/*
 * The live page of the clinic example in a real browser. The tests wait for what the page displays.
 */

const browsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const program = process.env.KEELSON_TEST_CHROMIUM ?? browsers.find((path) => existsSync(path))
const missing =
  program === undefined
    ? `no Chromium at ${browsers.join(', ')}: install one, or name it in KEELSON_TEST_CHROMIUM`
    : undefined
if (missing !== undefined) console.error(`NOT TESTED: the live page in a browser: ${missing}`)

const path = newFile()
const config = () => ({
  database: `sqlite:${path}`,
  models,
  auth: { identify },
  access: catalogue,
  public: fileURLToPath(new URL('../../examples/clinic/public', import.meta.url)),
  onError: (error: unknown) => reported.push(error),
})
const reported: unknown[] = []

type Clinic = Awaited<ReturnType<typeof openClinic>>
const openClinic = () => createService(config())

/** At noon, which is the same day in most time zones. */
const noon = '2026-03-02T12:00:00.000Z'

async function fill({ system: { records } }: Clinic): Promise<void> {
  await records.species.create({ code: 'dog', label: 'Dog' })
  const ann = await records.owner.create({ name: 'Ann Adler' })
  const pets = ['Rex', 'Balu', 'Nala'].map((name) => records.pet.create({ name, species: 'dog', owner: ann.id }))
  const [rex] = await Promise.all(pets)
  const vet = await records.vet.create({ name: 'Dr. Vera Vogel', email: 'vera@example.com' })
  const room = await records.room.create({ name: 'Theatre' })
  const first = { pet: rex?.id as number, vet: vet.id, room: room.id, reason: 'Ate a sock', startsAt: noon }
  await records.visit.create(first)
}

describe('the live page in two windows', { skip: missing ?? false, timeout: 120_000 }, () => {
  let clinic: Clinic
  let server: HttpServer
  let browser: Browser
  let pages: readonly [Page, Page]
  const pageErrors: string[] = []
  /** The number of times each window has read the list. */
  const reads = new Map<Page, number>()

  before(async () => {
    clinic = await openClinic()
    await fill(clinic)
    server = await clinic.listen(0)
    const isRoot = process.getuid?.() === 0
    browser = await chromium.launch({ executablePath: program as string, args: isRoot ? ['--no-sandbox'] : [] })
    pages = [await openPage(), await openPage()]
  })
  after(async () => {
    await browser?.close()
    await clinic?.close()
  })

  async function openPage(): Promise<Page> {
    const page = await browser.newPage({ timezoneId: 'Europe/Berlin' })
    page.on('pageerror', (error) => pageErrors.push(error.message))
    page.on('console', (message) => {
      // The browser logs a lost connection, which one of the tests causes.
      if (message.type() === 'error' && !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/.test(message.text())) {
        pageErrors.push(message.text())
      }
    })
    page.on('request', (request) => {
      const isRead = request.url().includes('/visit?') && request.resourceType() === 'fetch'
      if (isRead && request.method() === 'GET') reads.set(page, (reads.get(page) ?? 0) + 1)
    })
    await page.goto(`${server.url}/live.html?day=2026-03-02`)
    await page.getByText('live', { exact: true }).waitFor()
    return page
  }

  const rowOf = (page: Page, pet: string) => page.locator('#visits li', { has: page.getByText(pet, { exact: true }) })

  /** Waits until both windows display the visit. */
  const shownInBoth = (pet: string, status: string, reason: string) =>
    Promise.all(
      pages.map(async (page) => {
        const row = rowOf(page, pet)
        await row.and(page.locator(`[data-status="${status}"]`)).waitFor()
        await page.waitForFunction(
          ([name, expected]) => {
            const { document } = globalThis as unknown as Window
            return [...document.querySelectorAll('#visits li')].some(
              (item) =>
                item.querySelector('strong')?.textContent === name && item.querySelector('.reason')?.value === expected,
            )
          },
          [pet, reason] as const,
        )
      }),
    )

  test('show the visits of the day', async () => {
    await shownInBoth('Rex', 'booked', 'Ate a sock')
    for (const page of pages) {
      assert.equal(await page.locator('#visits li').count(), 1)
      assert.match(
        (await rowOf(page, 'Rex').innerText()).replace(/\s+/g, ' '),
        /^13:00 Rex dog · Ann Adler Dr. Vera Vogel, Theatre/,
      )
    }
  })

  test('a visit that is booked in one window appears in the other', async () => {
    const [page] = pages
    await page.getByLabel('Pet').fill('Ba')
    const option = page.locator('#pets option')
    await option.waitFor({ state: 'attached' })
    await page.getByLabel('Pet').fill((await option.getAttribute('value')) as string)
    await page.getByLabel('Reason').last().fill('Red eye')
    await page.getByLabel('Time').fill('09:30')
    await page.getByText('Book', { exact: true }).click()
    await shownInBoth('Balu', 'booked', 'Red eye')
    // In the order of the time.
    for (const other of pages) {
      assert.deepEqual(await other.locator('#visits strong').allInnerTexts(), ['Balu', 'Rex'])
      assert.equal(await other.locator('#booked').innerText(), '2')
    }
  })

  test('the form can be submitted while typing, without a chosen suggestion', async () => {
    const [page] = pages
    await page.getByLabel('Pet').fill('nal')
    await page.getByLabel('Reason').last().fill('Limps')
    await page.getByLabel('Reason').last().press('Enter')
    await page.getByText('Booked: Nala, dog · Ann Adler').waitFor()
    await shownInBoth('Nala', 'booked', 'Limps')
    const row = rowOf(page, 'Nala')
    await row.getByLabel('Remove').click()
    await row.getByText('Remove?').click()
    await Promise.all(pages.map((other) => rowOf(other, 'Nala').waitFor({ state: 'detached' })))
  })

  test('an error is displayed in the window of the action only', async () => {
    const [page, other] = pages
    await page.getByLabel('Pet').fill('Unknown')
    await page.getByLabel('Reason').last().fill('Red eye')
    await page.getByText('Book', { exact: true }).click()
    await page.getByRole('alert').filter({ hasText: 'No pet is called “Unknown”' }).waitFor()
    assert.equal(await other.locator('#problem').textContent(), '')
  })

  test('a change in the second window appears in the first', async () => {
    const [, second] = pages
    await rowOf(second, 'Balu').getByText('Done').click()
    await shownInBoth('Balu', 'done', 'Red eye')
    await rowOf(second, 'Rex').getByLabel('Reason').fill('Ate two socks')
    await rowOf(second, 'Rex').getByLabel('Reason').press('Enter')
    await shownInBoth('Rex', 'booked', 'Ate two socks')
  })

  test('a change by another program in the database appears', async () => {
    const stamps = `'${noon}', '${noon}'`
    asOtherProgram(
      path,
      `insert into visit (id, pet, "startsAt", status, reason, "createdAt", "updatedAt") values
         ('0190a0a0-0000-7000-8000-000000000001', 3, '2026-03-02T15:00:00.000Z', 'booked', 'By SQL', ${stamps}),
         ('0190a0a0-0000-7000-8000-000000000002', 3, '2026-03-03T15:00:00.000Z', 'booked', 'Another day', ${stamps})`,
    )
    await shownInBoth('Nala', 'booked', 'By SQL')
    asOtherProgram(path, `update visit set status = 'missed' where reason = 'By SQL'`)
    await shownInBoth('Nala', 'missed', 'By SQL')
    for (const page of pages) assert.equal(await page.locator('#visits li').count(), 3)
  })

  test('a visit that is moved to another day leaves the list, and returns when it is moved back', async () => {
    asOtherProgram(path, `update visit set "startsAt" = '2026-03-05T15:00:00.000Z' where reason = 'By SQL'`)
    await Promise.all(pages.map((page) => rowOf(page, 'Nala').waitFor({ state: 'detached' })))
    asOtherProgram(path, `update visit set "startsAt" = '2026-03-02T15:00:00.000Z' where reason = 'By SQL'`)
    await shownInBoth('Nala', 'missed', 'By SQL')
  })

  test('after a restart of the server the windows resume without reading the list again', async () => {
    const { port } = server
    const before = pages.map((page) => reads.get(page))
    await clinic.close()
    await Promise.all(pages.map((page) => page.locator('#connection[data-state="lost"]').waitFor()))
    asOtherProgram(path, `update visit set reason = 'While the server was down' where reason = 'By SQL'`)
    clinic = await openClinic()
    server = await clinic.listen(port)
    await shownInBoth('Nala', 'missed', 'While the server was down')
    await Promise.all(pages.map((page) => page.getByText('live', { exact: true }).waitFor()))
    assert.deepEqual(
      pages.map((page) => reads.get(page)),
      before,
    )
    await rowOf(pages[0], 'Rex').getByText('Missed').click()
    await shownInBoth('Rex', 'missed', 'Ate two socks')
  })

  test('a removed visit disappears in both windows', async () => {
    const row = rowOf(pages[0], 'Rex')
    await row.getByLabel('Remove').click()
    await row.getByText('Remove?').click()
    await Promise.all(pages.map((page) => rowOf(page, 'Rex').waitFor({ state: 'detached' })))
  })

  test('markup in records is displayed as text', async () => {
    const visit = (await clinic.system.records.visit.find({ where: { reason: 'While the server was down' } })).data[0]
    const markup = '<img src=x onerror="document.title=1">'
    await clinic.system.records.visit.update(visit?.id as string, { reason: markup })
    await clinic.system.records.pet.update(visit?.pet as number, { name: '<b>Nala</b>' })
    await shownInBoth('Nala', 'missed', markup)
    await pages[0].reload()
    await rowOf(pages[0], '<b>Nala</b>').waitFor()
    assert.equal(await pages[0].title(), 'Visits · Clinic')
  })

  test('neither the pages nor the service reported errors', () => {
    assert.deepEqual(pageErrors, [])
    assert.deepEqual(reported, [])
  })
})
