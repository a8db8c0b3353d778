import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newFile } from '../../test/sqlite.ts'
import { ConfigError } from '../model/config-error.ts'
import { defineModels } from '../model/define.ts'
import { defaultLimits } from '../support/limits.ts'
import { openStore } from './stores.ts'

const open = async (url: string): Promise<string> => {
  const models = defineModels({ pet: { attributes: { name: { type: 'string' } } } }, {})
  const report = (error: unknown) => assert.fail(String(error))
  await using store = (await openStore({ url, models, migrate: 'add', limits: defaultLimits, report })).store
  return store.description
}

describe('the address of a database', () => {
  const path = newFile()
  for (const scheme of ['sqlite:', 'sqlite://', 'file:', 'file://']) {
    test(`${scheme} and the path of a file`, async () => {
      assert.ok((await open(scheme + path)).endsWith(`(${path})`))
    })
  }

  for (const [url, problem] of [
    [`file:${path}?mode=ro`, `"?mode=ro" is not understood; write "sqlite:${path}"`],
    ['mysql://host/name', '"mysql:" is no database that is known here (sqlite:, postgres:, memory:)'],
    ['data/app.db', '"data/app.db" has no scheme; a file is "sqlite:data/app.db"'],
  ] as const) {
    test(`${url} is refused`, async () => {
      await assert.rejects(open(url), (error) => {
        assert.ok(error instanceof ConfigError)
        assert.deepEqual(error.problems, [`database: ${problem}`])
        return true
      })
    })
  }
})
