import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { catalogue } from '../../examples/clinic/access.ts'
import { models } from '../../examples/clinic/models.ts'
import { identify } from '../../examples/clinic/users.ts'
import { createService } from '../../src/index.ts'
import { asOtherProgram, newFile } from '../support/sqlite.ts'

/*
 * The page of three users of the clinic example in a real browser. The tests wait for what each pane displays.
 */

const browsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const program = process.env.KEELSON_TEST_CHROMIUM ?? browsers.find((path) => existsSync(path))
const missing =
  program === undefined
    ? `no Chromium at ${browsers.join(', ')}: install one, or name it in KEELSON_TEST_CHROMIUM`
    : undefined
if (missing !== undefined) console.error(`NOT TESTED: the page of three users in a browser: ${missing}`)

const path = newFile()
const reported: unknown[] = []
const openClinic = () =>
  createService({
    database: `sqlite:${path}`,
    models,
    auth: { identify },
    access: catalogue,
    public: fileURLToPath(new URL('../../examples/clinic/public', import.meta.url)),
    onError: (error: unknown) => reported.push(error),
  })
type Clinic = Awaited<ReturnType<typeof openClinic>>

/** A minute of the displayed day. The browser has the time zone of the tests. */
const at = (minutes: number) => new Date(2026, 2, 2, 0, minutes).toISOString()

/** Ann and Dr. Vogel are the users of the page. */
async function fill({ system: { records } }: Clinic): Promise<void> {
  await records.species.create({ code: 'dog', label: 'Dog' })
  const ann = await records.owner.create({ name: 'Ann Adler' })
  const bob = await records.owner.create({ name: 'Bob Berg' })
  const vera = await records.vet.create({ name: 'Dr. Vogel', email: 'vera@example.com' })
  const kim = await records.vet.create({ name: 'Dr. Kim', email: 'kim@example.com' })
  const pet = (name: string, owner: number, lost = false) => records.pet.create({ name, owner, lost, species: 'dog' })
  const [rex, balu, kit] = [await pet('Rex', ann.id), await pet('Balu', ann.id), await pet('Kit', bob.id)]
  await pet('Stray', bob.id, true)
  const visit = (pet: number, vet: number, reason: string, minutes: number) =>
    records.visit.create({ pet, vet, reason, startsAt: at(minutes) })
  await visit(rex.id, vera.id, 'Ate a sock', 600)
  await visit(balu.id, kim.id, 'Limps', 660)
  await visit(kit.id, vera.id, 'Vaccination', 720)
}

const everyone = ['demo-owner', 'demo-vet', 'demo-admin'] as const
type User = (typeof everyone)[number]
type Shown = Readonly<Record<User, readonly string[]>>

describe('three users side by side', { skip: missing ?? false, timeout: 120_000 }, () => {
  let clinic: Clinic
  let browser: Browser
  let page: Page
  const pageErrors: string[] = []

  before(async () => {
    clinic = await openClinic()
    await fill(clinic)
    const server = await clinic.listen(0)
    const isRoot = process.getuid?.() === 0
    browser = await chromium.launch({ executablePath: program as string, args: isRoot ? ['--no-sandbox'] : [] })
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    page.on('pageerror', (error) => pageErrors.push(error.message))
    page.on('console', (message) => message.type() === 'error' && pageErrors.push(message.text()))
    await page.goto(`${server.url}/users.html?day=2026-03-02`)
  })
  after(async () => {
    await browser?.close()
    await clinic?.close()
  })

  const paneOf = (user: User) => page.locator(`[data-user="${user}"]`)
  const rowOf = (user: User, list: string, pet: string) =>
    paneOf(user).locator(`.${list} li`, { has: page.getByText(pet, { exact: true }) })

  /** Waits until each pane displays exactly these. */
  const shows = (list: 'visits' | 'pets', expected: Shown) =>
    page.waitForFunction(
      ([list, expected]) => {
        const { document } = globalThis as unknown as { document: { querySelectorAll(selector: string): Item[] } }
        return Object.entries(expected).every(([user, names]) => {
          const found = [...document.querySelectorAll(`[data-user="${user}"] .${list} strong`)]
          return found.map(({ textContent }) => textContent).join() === names.join()
        })
      },
      [list, expected] as const,
    )
  interface Item {
    readonly textContent: string
  }

  test('see what the rules allow them', async () => {
    await shows('visits', {
      'demo-owner': ['Rex', 'Balu'],
      'demo-vet': ['Rex', 'Kit'],
      'demo-admin': ['Rex', 'Balu', 'Kit'],
    })
    await shows('pets', {
      'demo-owner': ['Balu', 'Rex', 'Stray'],
      'demo-vet': ['Kit', 'Rex', 'Stray'],
      'demo-admin': ['Balu', 'Kit', 'Rex', 'Stray'],
    })
    assert.deepEqual(await page.locator('h2').allInnerTexts(), ['Ann Adler', 'Dr. Vogel', 'Reception'])
    assert.equal(await page.locator('.connection[data-state="live"]').count(), 3)
  })

  test('a lost pet appears in every pane, and leaves those that may not see it when it is found', async () => {
    await rowOf('demo-owner', 'pets', 'Balu').getByRole('button').click()
    await rowOf('demo-vet', 'pets', 'Balu').getByText('lost').waitFor()
    await rowOf('demo-admin', 'pets', 'Balu').getByText('lost').waitFor()
    await rowOf('demo-owner', 'pets', 'Balu').getByText('Found').click()
    await rowOf('demo-vet', 'pets', 'Balu').waitFor({ state: 'detached' })
  })

  test('a visit that is given to another vet moves, and its pet with it', async () => {
    await rowOf('demo-admin', 'visits', 'Balu').getByLabel('Vet').selectOption('Dr. Vogel')
    await shows('visits', {
      'demo-owner': ['Rex', 'Balu'],
      'demo-vet': ['Rex', 'Balu', 'Kit'],
      'demo-admin': ['Rex', 'Balu', 'Kit'],
    })
    await rowOf('demo-vet', 'pets', 'Balu').waitFor()
    await rowOf('demo-admin', 'visits', 'Kit').getByLabel('Vet').selectOption('Dr. Kim')
    await shows('visits', {
      'demo-owner': ['Rex', 'Balu'],
      'demo-vet': ['Rex', 'Balu'],
      'demo-admin': ['Rex', 'Balu', 'Kit'],
    })
    await rowOf('demo-vet', 'pets', 'Kit').waitFor({ state: 'detached' })
  })

  test('a refusal is displayed in the pane of its user, and changes nothing', async () => {
    await rowOf('demo-owner', 'visits', 'Rex').getByText('Done').click()
    await paneOf('demo-owner').getByRole('alert').filter({ hasText: 'You may not write "status" of visit' }).waitFor()
    await rowOf('demo-vet', 'visits', 'Rex').getByLabel('Vet').selectOption('Dr. Kim')
    await paneOf('demo-vet').getByRole('alert').filter({ hasText: 'You may not update this visit' }).waitFor()
    assert.equal(await rowOf('demo-vet', 'visits', 'Rex').getByLabel('Vet').inputValue(), '1')
    assert.equal(await paneOf('demo-admin').locator('.problem').textContent(), '')
  })

  test('a vet ends its visit: every pane with the visit shows it', async () => {
    await rowOf('demo-vet', 'visits', 'Rex').getByText('Done').click()
    for (const user of everyone) await rowOf(user, 'visits', 'Rex').and(page.locator('[data-status="done"]')).waitFor()
  })

  test('a pet that another program gives to another owner leaves its pane with its visits', async () => {
    asOtherProgram(path, `update pet set owner = 2 where name = 'Rex'`)
    await shows('visits', { 'demo-owner': ['Balu'], 'demo-vet': ['Rex', 'Balu'], 'demo-admin': ['Rex', 'Balu', 'Kit'] })
    await rowOf('demo-owner', 'pets', 'Rex').waitFor({ state: 'detached' })
  })

  test('neither the page nor the service reported errors', () => {
    assert.deepEqual(pageErrors, [])
    assert.deepEqual(reported, [])
  })
})
