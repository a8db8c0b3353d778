import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Condition } from '../criteria/criteria.ts'
import { parseWhere } from '../criteria/parse-where.ts'
import { defineModels } from '../model/define.ts'
import type { Model } from '../model/model.ts'
import type { RecordId } from '../protocol/change.ts'
import type { Event, SubscriptionEvent } from '../protocol/event.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { defaultLimits } from '../support/limits.ts'
import { EventSlice, type EventSliceOptions, slicesOf } from './event-slice.ts'
import { everythingVisible, fullView, type Images, type View, type Visibility } from './visibility.ts'

const models = defineModels({
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: { attributes: { name: { type: 'string' }, weight: { type: 'number' }, owner: { model: 'owner' } } },
})
const pet = models.get('pet') as Model
const owner = models.get('owner') as Model
const where = (raw: Json, model = pet): Condition => parseWhere(raw, model, defaultLimits)

const rex = { id: 1, name: 'Rex', weight: 5, owner: null }
const created: Event = { verb: 'created', model: 'pet', id: 1, data: rex }
const updated = (data: JsonObject, previous: JsonObject = rex): Event => ({
  verb: 'updated',
  model: 'pet',
  id: 1,
  data: { id: 1, ...data },
  previous,
})
const destroyed: Event = { verb: 'destroyed', model: 'pet', id: 1, previous: rex }
const left: SubscriptionEvent = { verb: 'destroyed', model: 'pet', id: 1 }
const entered = (data: JsonObject): SubscriptionEvent => ({
  verb: 'created',
  model: 'pet',
  id: 1,
  data: { ...rex, ...data },
})
const added = (id: RecordId): Event => ({ verb: 'addedTo', model: 'owner', id, attribute: 'pets', addedId: 1 })

const sliceOf = (events: readonly Event[], options: Partial<EventSliceOptions> = {}): EventSlice =>
  new EventSlice(events, { models, visibility: everythingVisible, currentRecords: () => new Map(), ...options })

const heavy = where({ weight: { '>': 3 } })
for (const [what, condition, event, expected] of [
  ['a record that is created and matches', heavy, created, created],
  ['a record that is created and does not match', where({ weight: 1 }), created, undefined],
  ['a record that is destroyed and matched', heavy, destroyed, destroyed],
  ['a record that is destroyed and did not match', where({ weight: 1 }), destroyed, undefined],
  ['a change of a record that matches', heavy, updated({ weight: 4 }), updated({ weight: 4 })],
  ['a change of a record that does not match', where({ name: 'Max' }), updated({ weight: 4 }), undefined],
  ['a change after which it does not match', heavy, updated({ weight: 3 }), left],
  ['a change after which it matches', heavy, updated({ weight: 9 }, { ...rex, weight: 3 }), entered({ weight: 9 })],
  ['a change to null after which it does not match', heavy, updated({ weight: null }), left],
  ['a change from null', heavy, updated({ weight: 9 }, { ...rex, weight: null }), entered({ weight: 9 })],
  ['a change and a negation', where({ not: { weight: 5 } }), updated({ weight: 4 }), entered({ weight: 4 })],
  ['values that did not change', where({ name: 'Rex', weight: 4 }), updated({ weight: 4 }), entered({ weight: 4 })],
] as const satisfies readonly (readonly [string, Condition, Event, SubscriptionEvent | undefined])[]) {
  test(`a condition and ${what}`, () => {
    assert.deepEqual(sliceOf([event]).seenBy(0, fullView, condition), expected)
  })
}

test('a condition is evaluated once for all subscribers, and the same payload is the same object', () => {
  const slice = sliceOf([updated({ weight: 3 }), updated({ weight: 4 })])
  const other = where({ weight: { '>': 4 } })
  assert.equal(slice.seenBy(0, fullView, heavy), slice.seenBy(0, fullView, heavy))
  assert.equal(slice.seenBy(0, fullView, heavy), slice.seenBy(0, fullView, other))
  assert.equal(slice.seenBy(1, fullView, heavy), slice.events[1])
})

test('for a condition, records whose members changed are read with one statement for each model', async () => {
  const isAnn = where({ name: 'Ann' }, owner)
  const asked: (readonly [string, readonly RecordId[]])[] = []
  const slice = sliceOf([added(1), added(2), added(1), created], {
    currentRecords: async (model, ids) => {
      asked.push([model, ids])
      return new Map([
        [1, { id: 1, name: 'Ben' }],
        [2, { id: 2, name: 'Ann' }],
      ])
    },
  })
  assert.equal(slice.isJudged(0, fullView, isAnn), false)
  await slice.judge(
    () => new Set(),
    (model) => model === 'owner',
  )
  assert.deepEqual(
    slice.events.slice(0, 3).map((_, index) => slice.seenBy(index, fullView, isAnn)),
    [undefined, added(2), undefined],
  )
  assert.deepEqual(asked, [['owner', [1, 2]]])
})

test('without a condition on it nothing is read', () => {
  const slice = sliceOf([added(1)], { currentRecords: () => assert.fail('read') })
  const judging = slice.judge(
    () => new Set(),
    () => false,
  )
  assert.equal(judging, undefined)
  assert.equal(slice.seenBy(0, fullView), slice.events[0])
})

/** Each view sees the pets above a weight, and their names are hidden from it. */
const lighter: View = { key: 'above 3' }
const heavier: View = { key: 'above 8' }
const limits = new Map([
  [lighter, 3],
  [heavier, 8],
])

function rules(): Visibility & { readonly calls: number[] } {
  const calls: number[] = []
  const seen = (image: JsonObject | undefined, limit: number): JsonObject | undefined =>
    image && (image.weight as number) > limit ? { ...image, name: null } : undefined
  return {
    calls,
    isRestricted: (model) => model === 'pet',
    hidesRecords: (model) => model === 'pet',
    viewOf: () => lighter,
    hide: () => fullView,
    decidesRights: () => false,
    changesRights: () => false,
    judge(_, events, views) {
      calls.push(views.size)
      const imagesFor = (limit: number) =>
        events.map(({ images }): Images => ({ before: seen(images.before, limit), after: seen(images.after, limit) }))
      return new Map([...views].map((view) => [view, imagesFor(limits.get(view) ?? 0)]))
    },
  }
}

test('a restricted model is judged once for all views, which see what they may', async () => {
  const visibility = rules()
  const events = [updated({ weight: 4 }), updated({ weight: 9 }), updated({ weight: 1 }), destroyed]
  const slice = sliceOf(events, { visibility })
  const views = () => new Set([lighter, heavier])
  await slice.judge(views, () => false)
  await slice.judge(views, () => false)
  assert.deepEqual(visibility.calls, [2])
  const hidden = { ...rex, name: null }
  assert.deepEqual(
    events.map((_, index) => slice.seenBy(index, lighter)),
    [
      { verb: 'updated', model: 'pet', id: 1, data: { id: 1, weight: 4 }, previous: hidden },
      { verb: 'updated', model: 'pet', id: 1, data: { id: 1, weight: 9 }, previous: hidden },
      left,
      { verb: 'destroyed', model: 'pet', id: 1, previous: hidden },
    ],
  )
  assert.deepEqual(
    events.map((_, index) => slice.seenBy(index, heavier)),
    [undefined, { verb: 'created', model: 'pet', id: 1, data: { ...hidden, weight: 9 } }, undefined, undefined],
  )
  assert.equal(slice.seenBy(0, lighter), slice.seenBy(0, lighter))
})

test('a condition does not see what is hidden', async () => {
  const slice = sliceOf([created], { visibility: rules() })
  await slice.judge(
    () => new Set([lighter]),
    () => true,
  )
  assert.equal(slice.seenBy(0, lighter, where({ name: 'Rex' })), undefined)
  assert.equal(slice.seenBy(0, lighter, where({ name: null }))?.verb, 'created')
})

test('the events of members are in one slice with that of the record that follows them', () => {
  const moved = (id: number): readonly Event[] => [
    { verb: 'addedTo', model: 'owner', id: 1, attribute: 'pets', addedId: id },
    { verb: 'removedFrom', model: 'owner', id: 2, attribute: 'pets', removedId: id },
    { verb: 'updated', model: 'pet', id, data: { id, owner: 1 }, previous: { id, owner: 2 } },
  ]
  const events = Array.from({ length: 500 }, (_, index) => moved(index)).flat()
  const slices = [...slicesOf(events)]
  assert.deepEqual(slices.flat(), events)
  assert.ok(slices.length > 5)
  for (const slice of slices) assert.equal(slice.at(-1)?.verb, 'updated')
})
