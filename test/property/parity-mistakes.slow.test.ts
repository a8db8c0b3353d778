import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { databaseNamed } from '../support/databases.ts'
import { openSubject, sameAnswers } from './parity/property.ts'
import { mistakes, openWrong } from './parity/wrong.ts'

describe('the property finds each deliberate mistake', () => {
  /** Fixed, so that a run is reproducible. */
  const seed = 20261121
  for (const mistake of mistakes) {
    test(mistake.name, async () => {
      const memory = await openSubject(databaseNamed('memory'))
      const wrong = openWrong(mistake)
      const found = await fc.check(sameAnswers(memory, wrong), { seed, numRuns: 400, endOnFailure: true })
      await wrong.store[Symbol.asyncDispose]()
      assert.ok(found.failed, 'no counterexample was found')
      assert.match(String(found.errorInstance), /does not answer as memory does/)
    })
  }

  test('and passes a correct store', async () => {
    const right = openWrong({ name: 'right' })
    const found = await fc.check(sameAnswers(await openSubject(databaseNamed('memory')), right), {
      seed,
      numRuns: 40,
      endOnFailure: true,
    })
    await right.store[Symbol.asyncDispose]()
    assert.equal(found.failed, false, String(found.errorInstance))
  })
})
