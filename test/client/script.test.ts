import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import * as client from '../../src/client.ts'
import { createService } from '../../src/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-script-'))
after(() => rmSync(folder, { recursive: true }))
const models = { pet: { attributes: { name: { type: 'string' } } } } as const

test('the service serves the client as one script', async () => {
  await using service = await createService({ database: 'memory:', models })
  const { url } = await service.listen(0)
  const response = await fetch(`${url}/keelson.js`)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('Content-Type'), 'text/javascript; charset=utf-8')
  assert.equal(response.headers.get('Content-Encoding'), 'gzip')
  const file = join(folder, 'keelson.mjs')
  const text = await response.text()
  writeFileSync(file, text)
  const served = (await import(file)) as typeof client
  assert.deepEqual(Object.keys(served).sort(), Object.keys(client).sort())
  const api = served.createClient<{ models: typeof models }>({ url })
  assert.equal((await api.pet.create({ name: 'Rex' })).name, 'Rex')
  await assert.rejects(api.pet.update(9, {}), served.NotFoundError)

  const plain = await fetch(`${url}/keelson.js`, { headers: { 'Accept-Encoding': 'identity' } })
  assert.equal(plain.headers.get('Content-Encoding'), null)
  assert.equal(await plain.text(), text)
  const known = { 'If-None-Match': response.headers.get('ETag') as string }
  assert.equal((await fetch(`${url}/keelson.js`, { headers: known })).status, 304)
  assert.equal((await fetch(`${url}/keelson.js`, { method: 'HEAD' })).status, 200)
  assert.equal((await fetch(`${url}/keelson.js`, { method: 'POST' })).status, 404)
})

test('a file of that name in the public folder is served instead', async () => {
  writeFileSync(join(folder, 'keelson.js'), 'export const own = true\n')
  await using service = await createService({ database: 'memory:', models, public: folder })
  const { url } = await service.listen(0)
  assert.match(await (await fetch(`${url}/keelson.js`)).text(), /own = true/)
})
