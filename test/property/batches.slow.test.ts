import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService, type Service } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'
import { Random } from '../support/random.ts'
import { seed } from '../support/seed.ts'
import { type BatchItem, generateBatch, withReferences } from './batches/generate.ts'
import { models } from './batches/models.ts'
import { changesSince, type ItemAnswer, restore, send, stateOf } from './batches/subject.ts'

/*
 * Random batches, compared with the same requests one after another on the memory store: the same answers, the same
 * records and the same changes; and nothing at all where one of the requests fails.
 *
 * `KEELSON_TEST_SEED` repeats a run, `KEELSON_BATCH_RUNS` makes it longer.
 */

const runs = Number(process.env.KEELSON_BATCH_RUNS ?? 150)

const open = (database: string): Promise<Service> => createService({ models, database }) as never

describe(`random batches (KEELSON_TEST_SEED=${seed})`, () => {
  for (const kind of databases) {
    test(kind.name, { skip: kind.missing ?? false }, async (t) => {
      await using opened: TestDatabase = await kind.open()
      await using subject = await open(opened.url)
      await using reference = await open('memory:')
      const random = new Random(seed)
      const outcomes = { executed: 0, refused: 0 }
      for (let run = 0; run < runs; run++) {
        const items = generateBatch(random)
        const isAtomic = random.chance(0.8)
        const failed = await compare(items, isAtomic, subject, reference)
        outcomes[failed ? 'refused' : 'executed']++
      }
      t.diagnostic(JSON.stringify(outcomes))
      assert.ok(outcomes.executed > runs / 10 && outcomes.refused > runs / 10, JSON.stringify(outcomes))
    })
  }
})

/** Resolves with whether a request failed and undid the batch. */
async function compare(
  items: readonly BatchItem[],
  isAtomic: boolean,
  subject: Service,
  reference: Service,
): Promise<boolean> {
  const before = await stateOf(reference)
  const [head, referenceHead] = [await subject.changes.head(), await reference.changes.head()]
  const single: ItemAnswer[] = []
  for (const item of items) {
    const resolved = withReferences(item, single)
    const answer = 'url' in resolved ? await send(reference, resolved) : resolved
    single.push(answer)
    if (isAtomic && answer.status >= 400) break
  }
  const expected = await changesSince(reference, referenceHead)
  const batch = await send(subject, {
    method: 'POST',
    url: isAtomic ? '/batch' : '/batch?atomic=false',
    body: items as never,
  })
  const where = JSON.stringify({ items, single, batch }, null, 1)
  const answers = batch.body as unknown as readonly ItemAnswer[]
  const failure = single.findIndex(({ status }) => status >= 400)
  if (isAtomic && failure !== -1) {
    const found = answers.findIndex(({ status }) => status !== 424)
    // All requests are validated before the first is executed, so a later one may be found first.
    assert.ok(found === failure || (found > failure && answers[found]?.status === 400), where)
    assert.equal(batch.status, answers[found]?.status, where)
    assert.deepEqual(
      answers.map(({ status }) => status),
      items.map((_, index) => (index === found ? batch.status : 424)),
      where,
    )
    assert.deepEqual((await changesSince(subject, head)).changes, [], where)
    await restore(reference, before)
    assert.deepEqual(await stateOf(subject), before, where)
    return true
  }
  assert.equal(batch.status, 200, where)
  assert.deepEqual(answers.map(shownOf), single.map(shownOf), where)
  assert.deepEqual(await stateOf(subject), await stateOf(reference), where)
  const { changes, operations } = await changesSince(subject, head)
  assert.deepEqual(changes.toSorted(), expected.changes.toSorted(), where)
  if (isAtomic) assert.ok(operations <= 1, `${operations} operations: ${where}`)
  return false
}

/** A request may have several faults, and it differs between databases which one is reported. */
const shownOf = (answer: ItemAnswer) =>
  answer.status >= 400 && answer.status < 500 && answer.status !== 424 ? 'refused' : [answer.status, bodyOf(answer)]

const bodyOf = ({ status, body }: ItemAnswer) => (status === 424 ? undefined : body)
