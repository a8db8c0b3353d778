import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { databases } from '../../test/support/databases.ts'
import { defineModels } from '../model/define.ts'
import { defaultLimits } from '../support/limits.ts'
import type { AnswerRetention } from './stored-answers.ts'
import { openStore } from './stores.ts'

const models = defineModels({ pet: { attributes: { name: { type: 'string' } } } })
const keepAll: AnswerRetention = { olderThan: 0, rows: 1_000, bytes: 1e9 }

/** Ten answers, of which the newest is from the time 10. Each takes more than 1,000 bytes and less than 1,500. */
const times = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

const cases: readonly (readonly [what: string, kept: Partial<AnswerRetention>, oldest: number])[] = [
  ['nothing that is within the limits', {}, 1],
  ['those that are too old', { olderThan: 4 }, 4],
  ['the oldest, by their number', { rows: 3 }, 8],
  ['the oldest, by their bytes', { bytes: 4_500 }, 8],
  ['all of them, by their bytes', { bytes: 100 }, 11],
]

for (const { name, missing, open } of databases) {
  describe(`stored answers on ${name}`, { skip: missing }, () => {
    for (const [what, kept, oldest] of cases) {
      const skip = name === 'memory' && kept.bytes !== undefined && 'answers in memory are bounded by their number'
      test(`trimming deletes ${what}`, { skip }, async () => {
        await using database = await open()
        const opened = await openStore({
          url: database.url,
          models,
          migrate: 'add',
          limits: defaultLimits,
          onError() {},
        })
        await using store = opened.store
        const { answers } = store
        assert.ok(answers)
        await answers.prepare()
        const body = 'x'.repeat(1_000)
        for (const at of times)
          await store.transaction(async (transaction) => {
            await transaction.keepAnswer?.({ id: String(at), request: '', status: 200, headers: '{}', body, at })
          })
        await answers.trim({ ...keepAll, ...kept })
        const left = []
        for (const at of times) if (await answers.find(String(at))) left.push(at)
        assert.deepEqual(
          left,
          times.filter((at) => at >= oldest),
        )
      })
    }
  })
}
