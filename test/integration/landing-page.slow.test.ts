import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { chromium } from 'playwright-core'
import { createService } from '../../src/index.ts'

const browsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const program = process.env.KEELSON_TEST_CHROMIUM ?? browsers.find((path) => existsSync(path))
const skip = program === undefined && 'no Chromium: install one, or name it in KEELSON_TEST_CHROMIUM'

test('the requests of the landing page run by a click, and its policy is not violated', {
  skip,
  timeout: 60_000,
}, async () => {
  const models = { pet: { attributes: { name: { type: 'string', required: true } } } } as const
  await using service = await createService({ models, database: 'memory:' })
  const { url } = await service.listen(0)
  const isRoot = process.getuid?.() === 0
  const browser = await chromium.launch({ executablePath: program as string, args: isRoot ? ['--no-sandbox'] : [] })
  try {
    const page = await browser.newPage()
    const messages: string[] = []
    page.on('console', (message) => messages.push(message.text()))
    page.on('dialog', (dialog) => void dialog.accept())
    await page.goto(url)
    assert.match(await page.title(), /^Keelson data service at 127\.0\.0\.1:\d+$/)
    const run = async (label: string) => {
      const item = page.locator('li', { has: page.locator('span', { hasText: new RegExp(`^${label}$`) }) })
      await item.locator('button').click()
      const output = item.locator('output')
      await output.filter({ hasText: /^\d{3} / }).waitFor()
      return output.textContent()
    }
    assert.match((await run('Create')) ?? '', /^201 Created\n\{\n {2}"id": 1,/)
    assert.match((await run('Find')) ?? '', /^200 OK\n\[/)
    assert.match((await run('Update')) ?? '', /^200 OK\n/)
    assert.match((await run('Destroy')) ?? '', /^200 OK\n/)
    assert.match((await run('Find one')) ?? '', /^404 Not Found\n/)
    assert.deepEqual(
      messages.filter((message) => /Content.Security/i.test(message)),
      [],
    )
  } finally {
    await browser.close()
  }
})
