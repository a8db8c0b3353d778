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

const unreadable =
  'the URL cannot be read as postgres://user:password@host:5432/name. In a user and a password, these characters are written as codes: @ as %40, / as %2F, ? as %3F, # as %23, % as %25'

describe('the database URL', () => {
  const path = newFile()
  for (const scheme of ['sqlite:', 'sqlite://', 'file:', 'file://']) {
    test(`${scheme} and the path of a file`, async () => {
      assert.ok((await open(scheme + path)).endsWith(`(${path})`))
    })
  }

  for (const [url, problem] of [
    [`file:${path}?mode=ro`, `"?mode=ro" is not supported; write "sqlite:${path}"`],
    [`sqlite://${path}?mode=rwc`, `"?mode=rwc" is not supported; write "sqlite:${path}"`],
    ['sqlite:', '"sqlite:" names no file; write "sqlite:data/app.db" or "sqlite::memory:"'],
    ['file://', '"file://" names no file; write "sqlite:data/app.db" or "sqlite::memory:"'],
    ['mysql://host/name', '"mysql:" is not a supported database (sqlite:, postgres:, memory:)'],
    ['"sqlite:app.db"', 'the URL begins with a quote or a space; write sqlite:app.db'],
    [' postgres://host/name', 'the URL begins with a quote or a space; write postgres://host/name'],
    [' postgres://me:s@cret@host/name', 'the URL begins with a quote or a space; write postgres://…@host/name'],
    ['Postgres://me:secret@host/name', '"Postgres://…@host/name" is not a supported database'],
    ...['s@c/ret', 's@c?ret', 's@c#ret', 's/c', 's?c', 's#c', '1/c', '1?c', '1#c'].map(
      (password): [url: string, problem: string] => [`postgres://me:${password}@127.0.0.1:1/name`, unreadable],
    ),
    ['postgres://me:secret@127.0.0.1:port/name', unreadable],
    ...['schema', 'currentSchema', 'search_path'].map((name): [url: string, problem: string] => [
      `postgres://me@127.0.0.1:1/name?sslmode=disable&${name}=shop`,
      `"${name}" is not a parameter of the URL, and the schema would be another one. The search path belongs to the role (alter role app set search_path = shop), or to the URL: ?options=-c%20search_path%3Dshop`,
    ]),
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

  for (const user of ['me', 'me:s@cret', 'me:s%2Fcret', 'me:s%cret', 'me:se:cret', 'me:s%40', ''])
    test(`postgres://${user}@… is read`, async () => {
      const url = `postgres://${user}${user && '@'}127.0.0.1:1/name?application_name=a@b`
      await assert.rejects(open(url), /ECONNREFUSED/)
    })

  test('postgres://… with the schema that is found anyway is read', async () => {
    await assert.rejects(open('postgres://me@127.0.0.1:1/name?schema=public'), /ECONNREFUSED/)
  })
})
