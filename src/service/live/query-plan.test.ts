import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { blockEventLoop } from '../../../test/support/block-event-loop.ts'
import { allAttributes, findByPrimaryKey } from '../../criteria/criteria.ts'
import { defineModels } from '../../model/define.ts'
import type { Model } from '../../model/model.ts'
import type { FindInput } from '../../operation/find-input.ts'
import type { OperationServices } from '../../operation/operation.ts'
import { MemoryRecords } from '../../storage/memory/records.ts'
import { defaultLimits } from '../../support/limits.ts'
import type { Authorization } from '../dispatch/authorize.ts'
import { LiveQueryPlans } from './query-plan.ts'

const models = defineModels({ pet: { attributes: { name: { type: 'string' } } } })
const pet = models.get('pet') as Model
const rows = Array.from({ length: 12 }, (_, index) => ({
  id: index + 1,
  name: 'rex',
  createdAt: null,
  updatedAt: null,
}))

/** Decoding and encoding a record takes some milliseconds each. */
class SlowRecords extends MemoryRecords {
  override decode = () => assert.fail('all records are decoded at once')

  override decodeAt(index: number) {
    blockEventLoop(5)
    return super.decodeAt(index)
  }

  override encodeAt(index: number) {
    blockEventLoop(5)
    return super.encodeAt(index)
  }
}

function planOf(input: Partial<FindInput>) {
  const select = allAttributes(pet)
  const reads = { find: () => new SlowRecords(rows, select), count: () => rows.length }
  const store = { snapshot: async (work: (_: unknown) => unknown) => ({ value: await work(reads), position: 'p' }) }
  const find = { criteria: { ...findByPrimaryKey(pet, 1), limit: 20 }, populate: [], count: false, ...input }
  const plans = new LiveQueryPlans({ limits: defaultLimits, models } as unknown as OperationServices)
  return plans.of(find, pet, { access: undefined, store } as unknown as Authorization)
}

describe('the rows of a query are made in parts, between which others run', () => {
  for (const { what, isLocal, input } of [
    { what: 'of one that follows the images of changes', isLocal: true, input: {} },
    { what: 'of one that is read again', isLocal: false, input: { count: true } },
  ])
    test(what, async (t) => {
      const plan = planOf(input)
      assert.equal(plan.local !== undefined, isLocal)
      let turns = 0
      const timer = setInterval(() => turns++, 0)
      t.after(() => clearInterval(timer))
      const result = await plan.run()
      assert.deepEqual(
        result.rows.map((row, index) => [row.id, JSON.parse(result.texts[index] as string)]),
        rows.map((row) => [row.id, row]),
      )
      assert.ok(turns >= 3, `${turns} turns of the event loop`)
    })
})
