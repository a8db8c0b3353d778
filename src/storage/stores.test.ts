import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newFile } from '../../test/support/sqlite.ts'
import { ConfigError } from '../model/config-error.ts'
import { defineModels } from '../model/define.ts'
import { defaultLimits } from '../support/limits.ts'
import { openStore } from './stores.ts'

const open = async (url: string): Promise<string> => {
  const models = defineModels({ pet: { attributes: { name: { type: 'string' } } } }, {})
  const onError = (error: unknown) => assert.fail(String(error))
  await using store = (await openStore({ url, models, migrate: 'add', limits: defaultLimits, onError })).store
  return store.description
}

describe('the database URL', () => {
  const path = newFile()
  for (const scheme of ['sqlite:', 'sqlite://', 'file:', 'file://']) {
    test(`${scheme} and the path of a file`, async () => {
      assert.ok((await open(scheme + path)).endsWith(`(${path})`))
    })
  }

  for (const [url, problem] of [
    [`file:${path}?mode=ro`, `"?mode=ro" is not supported; write "sqlite:${path}"`],
    ['sqlite:', '"sqlite:" names no file; write "sqlite:data/app.db" or "sqlite::memory:"'],
    ['file://', '"file://" names no file; write "sqlite:data/app.db" or "sqlite::memory:"'],
    ['mysql://host/name', '"mysql:" is not a supported database (sqlite:, postgres:, memory:)'],
    ['"sqlite:app.db"', 'the URL begins with a quote or a space; write sqlite:app.db'],
    [' postgres://host/name', 'the URL begins with a quote or a space; write postgres://host/name'],
    ['data/app.db', '"data/app.db" has no scheme; a file is "sqlite:data/app.db"'],
  ] as const) {
    test(`${url} is rejected`, async () => {
      await assert.rejects(open(url), (error) => {
        assert.ok(error instanceof ConfigError)
        assert.deepEqual(error.problems, [`database: ${problem}`])
        return true
      })
    })
  }
})
