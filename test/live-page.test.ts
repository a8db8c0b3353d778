import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { models } from '../examples/clinic/models.ts'
import { createService, type HttpServer } from '../src/index.ts'
import { newFile, strangely } from './sqlite.ts'

/** As much of a browser's window as is looked at here. */
interface Window {
  readonly document: { querySelectorAll(selector: string): Iterable<Item> }
}
interface Item {
  querySelector(selector: string): { readonly textContent: string; readonly value: string } | null
}

/*
 * The waiting room of the clinic, in a browser as people use them. What is waited for here is what somebody sees.
 */

const browsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const program = process.env.KEELSON_TEST_CHROMIUM ?? browsers.find((path) => existsSync(path))
const missing =
  program === undefined
    ? `no Chromium at ${browsers.join(', ')}: install one, or name it in KEELSON_TEST_CHROMIUM`
    : undefined
if (missing !== undefined) console.error(`NOT TESTED, the page in a browser: ${missing}`)

const path = newFile()
const config = () => ({
  database: `sqlite:${path}`,
  models,
  public: fileURLToPath(new URL('../examples/clinic/public', import.meta.url)),
  report: (error: unknown) => reported.push(error),
})
const reported: unknown[] = []

type Clinic = Awaited<ReturnType<typeof openClinic>>
const openClinic = () => createService(config())

/** At noon, so that it is the same day wherever the browser thinks it is. */
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

describe('two windows with the waiting room', { skip: missing ?? false, timeout: 120_000 }, () => {
  let clinic: Clinic
  let server: HttpServer
  let browser: Browser
  let pages: readonly [Page, Page]
  const troubles: string[] = []
  /** Readings of the list, each window. */
  const readings = new Map<Page, number>()

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
    page.on('pageerror', (error) => troubles.push(error.message))
    page.on('console', (message) => {
      // A browser complains of a server that is not there, and rightly.
      if (message.type() === 'error' && !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/.test(message.text())) {
        troubles.push(message.text())
      }
    })
    page.on('request', (request) => {
      const isReading = request.url().includes('/visit?') && request.resourceType() === 'fetch'
      if (isReading && request.method() === 'GET') readings.set(page, (readings.get(page) ?? 0) + 1)
    })
    await page.goto(`${server.url}/live.html?day=2026-03-02`)
    await page.getByText('live', { exact: true }).waitFor()
    return page
  }

  const rowOf = (page: Page, pet: string) => page.locator('#visits li', { has: page.getByText(pet, { exact: true }) })

  /** Waits until each window shows it. */
  const seenInBoth = (pet: string, status: string, reason: string) =>
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

  test('show what there is', async () => {
    await seenInBoth('Rex', 'booked', 'Ate a sock')
    for (const page of pages) {
      assert.equal(await page.locator('#visits li').count(), 1)
      assert.match(
        (await rowOf(page, 'Rex').innerText()).replace(/\s+/g, ' '),
        /^13:00 Rex dog · Ann Adler Dr. Vera Vogel, Theatre/,
      )
    }
  })

  test('who is put on the list in one window is on it in the other', async () => {
    const [page] = pages
    await page.getByLabel('Animal').fill('Ba')
    const option = page.locator('#pets option')
    await option.waitFor({ state: 'attached' })
    await page.getByLabel('Animal').fill((await option.getAttribute('value')) as string)
    await page.getByLabel('Reason').last().fill('Red eye')
    await page.getByLabel('At').fill('09:30')
    await page.getByText('Put on the list').click()
    await seenInBoth('Balu', 'booked', 'Red eye')
    // In order: who comes earlier stands above.
    for (const other of pages) {
      assert.deepEqual(await other.locator('#visits strong').allInnerTexts(), ['Balu', 'Rex'])
      assert.equal(await other.locator('#booked').innerText(), '2')
    }
  })

  test('what is wrong is said where it is done, and nowhere else', async () => {
    const [page, other] = pages
    await page.getByLabel('Animal').fill('Somebody else')
    await page.getByLabel('Reason').last().fill('Red eye')
    await page.getByText('Put on the list').click()
    await page.getByRole('alert').filter({ hasText: 'Choose the animal' }).waitFor()
    assert.equal(await other.locator('#problem').textContent(), '')
  })

  test('what is changed in the second window is changed in the first', async () => {
    const [, second] = pages
    await rowOf(second, 'Balu').getByText('Seen').click()
    await seenInBoth('Balu', 'done', 'Red eye')
    await rowOf(second, 'Rex').getByLabel('Reason').fill('Ate two socks')
    await rowOf(second, 'Rex').getByLabel('Reason').press('Enter')
    await seenInBoth('Rex', 'booked', 'Ate two socks')
  })

  test('what a program writes straight into the database is seen', async () => {
    const stamps = `'${noon}', '${noon}'`
    strangely(
      path,
      `insert into visit (id, pet, "startsAt", status, reason, "createdAt", "updatedAt") values
         ('0190a0a0-0000-7000-8000-000000000001', 3, '2026-03-02T15:00:00.000Z', 'booked', 'By SQL', ${stamps}),
         ('0190a0a0-0000-7000-8000-000000000002', 3, '2026-03-03T15:00:00.000Z', 'booked', 'Another day', ${stamps})`,
    )
    await seenInBoth('Nala', 'booked', 'By SQL')
    strangely(path, `update visit set status = 'missed' where reason = 'By SQL'`)
    await seenInBoth('Nala', 'missed', 'By SQL')
    for (const page of pages) assert.equal(await page.locator('#visits li').count(), 3)
  })

  test('what comes to another day leaves the list, and what comes back is on it again', async () => {
    strangely(path, `update visit set "startsAt" = '2026-03-05T15:00:00.000Z' where reason = 'By SQL'`)
    await Promise.all(pages.map((page) => rowOf(page, 'Nala').waitFor({ state: 'detached' })))
    strangely(path, `update visit set "startsAt" = '2026-03-02T15:00:00.000Z' where reason = 'By SQL'`)
    await seenInBoth('Nala', 'missed', 'By SQL')
  })

  test('after the server was away they go on, without reading the list again', async () => {
    const { port } = server
    const before = pages.map((page) => readings.get(page))
    await clinic.close()
    await Promise.all(pages.map((page) => page.locator('#line[data-state="lost"]').waitFor()))
    strangely(path, `update visit set reason = 'While it was away' where reason = 'By SQL'`)
    clinic = await openClinic()
    server = await clinic.listen(port)
    await seenInBoth('Nala', 'missed', 'While it was away')
    await Promise.all(pages.map((page) => page.getByText('live', { exact: true }).waitFor()))
    assert.deepEqual(
      pages.map((page) => readings.get(page)),
      before,
    )
    await rowOf(pages[0], 'Rex').getByText('Missed').click()
    await seenInBoth('Rex', 'missed', 'Ate two socks')
  })

  test('who is taken off the list is off it everywhere', async () => {
    const row = rowOf(pages[0], 'Rex')
    await row.getByLabel('Remove').click()
    await row.getByText('Remove?').click()
    await Promise.all(pages.map((page) => rowOf(page, 'Rex').waitFor({ state: 'detached' })))
  })

  test('what people write stays text', async () => {
    const visit = (await clinic.system.records.visit.find({ where: { reason: 'While it was away' } })).data[0]
    const markup = '<img src=x onerror="document.title=1">'
    await clinic.system.records.visit.update(visit?.id as string, { reason: markup })
    await clinic.system.records.pet.update(visit?.pet as number, { name: '<b>Nala</b>' })
    await seenInBoth('Nala', 'missed', markup)
    await pages[0].reload()
    await rowOf(pages[0], '<b>Nala</b>').waitFor()
    assert.equal(await pages[0].title(), 'Waiting room')
  })

  test('nothing went wrong on the way', () => {
    assert.deepEqual(troubles, [])
    assert.deepEqual(reported, [])
  })
})
