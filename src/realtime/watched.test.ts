import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Condition } from '../criteria/criteria.ts'
import { parseWhere } from '../criteria/parse-where.ts'
import { defineModels } from '../model/define.ts'
import type { Model } from '../model/model.ts'
import type { RecordId } from '../protocol/change.ts'
import type { Event } from '../protocol/event.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { defaultLimits } from '../support/limits.ts'
import { eventsFor, ofVisible, type WatchedEvent } from './watched.ts'

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
const left: WatchedEvent = { verb: 'destroyed', model: 'pet', id: 1 }
const came = (data: JsonObject): WatchedEvent => ({ verb: 'created', model: 'pet', id: 1, data: { ...rex, ...data } })
const added = (id: RecordId): Event => ({ verb: 'addedTo', model: 'owner', id, attribute: 'pets', addedId: 1 })

const heavy = where({ weight: { '>': 3 } })
for (const [what, condition, event, expected] of [
  ['one that is made in sight', heavy, created, [created]],
  ['one that is made out of sight', where({ weight: 1 }), created, []],
  ['one that goes in sight', heavy, destroyed, [destroyed]],
  ['one that goes out of sight', where({ weight: 1 }), destroyed, []],
  ['a change in sight', heavy, updated({ weight: 4 }), [updated({ weight: 4 })]],
  ['a change out of sight', where({ name: 'Max' }), updated({ weight: 4 }), []],
  ['a change out of sight, to one', heavy, updated({ weight: 3 }), [left]],
  ['a change into sight', heavy, updated({ weight: 9 }, { ...rex, weight: 3 }), [came({ weight: 9 })]],
  ['a change to null out of sight', heavy, updated({ weight: null }), [left]],
  ['a change from null into sight', heavy, updated({ weight: 9 }, { ...rex, weight: null }), [came({ weight: 9 })]],
  ['a change that a negation sees', where({ not: { weight: 5 } }), updated({ weight: 4 }), [came({ weight: 4 })]],
  ['what did not change counts too', where({ name: 'Rex', weight: 4 }), updated({ weight: 4 }), [came({ weight: 4 })]],
] as const satisfies readonly (readonly [string, Condition, Event, readonly WatchedEvent[]])[]) {
  test(`through a condition: ${what}`, () => {
    assert.deepEqual(eventsFor({ model: pet, where: condition }, [event]), expected)
  })
}

test('a model: its own events and no others', () => {
  assert.deepEqual(eventsFor({ model: owner }, [created, added(1), destroyed]), [added(1)])
})

test('a record: its own events, and its end is the last of them', () => {
  const other = { ...created, id: 2 }
  assert.deepEqual(eventsFor({ model: pet, id: 1 }, [created, other, destroyed, created]), [created, destroyed])
})

test('of a condition, members are heard of that belong to records in sight', async () => {
  const events = eventsFor({ model: owner, where: where({ name: 'Ann' }, owner) }, [added(1), added(2), added(1)])
  const asked: (readonly RecordId[])[] = []
  const seen = await ofVisible(events, (ids) => {
    asked.push(ids)
    return new Set([2])
  })
  assert.deepEqual(seen, [added(2)])
  assert.deepEqual(asked, [[1, 2]])
})

test('the database is not asked about what the log says', async () => {
  const events = await ofVisible([created, left], () => assert.fail('asked'))
  assert.deepEqual(events, [created, left])
})
