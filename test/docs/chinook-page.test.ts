import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { models } from '../../examples/chinook/models.ts'
import { createService } from '../../src/index.ts'
import { contentOf } from '../integration/chinook/data.ts'
import { schemaOf, sqliteEdition } from '../integration/chinook/tables.ts'
import { asOtherProgram, newFile } from '../support/sqlite.ts'

interface Question {
  readonly command: string
  readonly answer: string
}

/** The questions of the page, each a command and its expected output. */
const questionsIn = (page: string): readonly Question[] =>
  [...page.matchAll(/^```sh chinook\n\$ (.*)\n([\s\S]*?)```$/gm)].map(([, command = '', answer = '']) => ({
    command,
    answer: answer.trim(),
  }))

test('the requests of docs/chinook.md have the responses of the page', async () => {
  const questions = questionsIn(readFileSync(new URL('../../docs/chinook.md', import.meta.url), 'utf8'))
  assert.ok(questions.length >= 8)
  const path = newFile()
  asOtherProgram(path, schemaOf(sqliteEdition) + contentOf(sqliteEdition))
  await using service = await createService({
    database: `sqlite:${path}`,
    models,
    attributes: { createdAt: false, updatedAt: false },
  })
  const { url } = await service.listen(0)
  for (const { command, answer } of questions) {
    const { stdout } = await promisify(execFile)('bash', ['-c', command], { env: { ...process.env, URL: url } })
    assert.equal(stdout.trim(), answer, command)
  }
})
