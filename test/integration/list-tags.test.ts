import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { fingerprint } from '../../src/operation/version.ts'
import { databases } from '../support/databases.ts'

/* The tag of a list is a hash of its text with the secret of the database, and so is that of a record. */

const models = { note: { attributes: { createdAt: false, updatedAt: false, text: { type: 'string' } } } } as const
const open = (database: string) => createService({ database, models, sockets: false })
type Opened = Awaited<ReturnType<typeof open>>

async function ask({ fetch }: Opened, headers: Record<string, string> = {}, path = '/note') {
  const response = await fetch(new Request(`http://localhost${path}`, { headers }))
  return { status: response.status, tag: response.headers.get('etag') as string, body: await response.text() }
}

async function update({ fetch }: Opened, path: string, tag: string, body: object): Promise<number> {
  const headers = { 'If-Match': tag, 'Content-Type': 'application/json' }
  const init = { method: 'PATCH', headers, body: JSON.stringify(body) }
  return (await fetch(new Request(`http://localhost${path}`, init))).status
}

test('two processes have the same versions of records also where the database has no place for a secret', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-tags-'))
  const file = join(folder, 'safe.db')
  const database = new DatabaseSync(file)
  database.exec(
    `create table "note" ("id" integer primary key autoincrement, "text" text); insert into "note" values (1, 'a')`,
  )
  const openSafe = () => createService({ database: `sqlite:${file}`, models, sockets: false, migrate: 'safe' })
  {
    await using one = await openSafe()
    await using beside = await openSafe()
    const { tag, body } = await ask(one, {}, '/note/1')
    // Both run in this process, and a secret of its own would be the same.
    assert.equal(tag, `"${fingerprint(body)}-${fingerprint(body)}"`)
    assert.equal(await update(beside, '/note/1', tag, { text: 'b' }), 200)
  }
  database.close()
  rmSync(folder, { recursive: true })
})

for (const kind of databases.filter(({ name }) => name !== 'memory')) {
  describe(`the tag of a list, on ${kind.name}`, { skip: kind.missing ?? false }, () => {
    test('is known to other processes and after a restart, and to no other database', async () => {
      await using first = await kind.open()
      await using second = await kind.open()
      await using one = await open(first.url)
      await using elsewhere = await open(second.url)
      for (const { system } of [one, elsewhere]) await system.records.note.createMany([{ text: 'a' }, { text: 'é' }])
      const { tag, body } = await ask(one)
      await using beside = await open(first.url)
      assert.deepEqual(await ask(beside), { status: 200, tag, body })
      await one.close()
      await using restarted = await open(first.url)
      assert.deepEqual(await ask(restarted, { 'If-None-Match': tag }), { status: 304, tag, body: '' })
      const other = await ask(elsewhere)
      assert.equal(other.body, body)
      assert.notEqual(other.tag, tag)
    })

    test('and that of a record are so as well, and the version in it is the one that a write requires elsewhere', async () => {
      await using first = await kind.open()
      await using second = await kind.open()
      await using one = await open(first.url)
      await using beside = await open(first.url)
      await using elsewhere = await open(second.url)
      const texts = ['a', 'é😀', 'x'.repeat(5000)].map((text) => ({ text }))
      for (const { system } of [one, elsewhere]) await system.records.note.createMany(texts)
      for (const [index, { text }] of texts.entries()) {
        const path = `/note/${index + 1}`
        const { tag } = await ask(one, {}, path)
        assert.equal((await ask(beside, { 'If-None-Match': tag }, path)).status, 304)
        // SHA-1 of a longer text tells nothing that the body does not.
        assert.equal((await ask(elsewhere, {}, path)).tag === tag, text.length > 1000)
        const write = (tag: string) => update(beside, path, tag, { text: `${text}!` })
        const altered = tag.startsWith('"__') ? '"--' : '"__'
        assert.equal(await write(tag.replace(/^"../, altered)), 412)
        assert.equal(await write(tag), 200)
        assert.equal(await write(tag), 412)
      }
    })
  })
}
