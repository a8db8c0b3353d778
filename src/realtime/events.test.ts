import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineModels } from '../model/define.ts'
import type { Change } from '../protocol/change.ts'
import type { Event } from '../protocol/event.ts'
import type { JsonObject } from '../protocol/json.ts'
import { indexAssociations } from './association-index.ts'
import { eventsOf } from './events.ts'

const associations = indexAssociations(
  defineModels({
    owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
    pet: {
      attributes: { weight: { type: 'number' }, owner: { model: 'owner' }, tags: { collection: 'tag', via: 'pets' } },
    },
    tag: { attributes: { pets: { collection: 'pet', via: 'tags' } } },
  }),
)
const junction = [...associations.models.values()].find(({ isJunction }) => isJunction)?.name as string

type Row = readonly [verb: '+' | '~' | '-', model: string, id: Change['id'], before?: JsonObject, after?: JsonObject]

const changesOf = (rows: readonly Row[]): readonly Change[] =>
  rows.map(([sign, model, id, before, after], index) => ({
    position: `${index}`,
    operation: '1',
    at: '',
    model,
    id,
    verb: sign === '+' ? 'created' : sign === '-' ? 'destroyed' : 'updated',
    ...(before && { before }),
    ...(after && { after }),
  }))

const pet = (id: number, weight: number, owner: number | null = null): JsonObject => ({ id, weight, owner })
const owner = (id: number): JsonObject => ({ id, name: null })
const made = (image: JsonObject, model = 'pet'): Row => ['+', model, image.id as number, undefined, image]
const gone = (image: JsonObject, model = 'pet'): Row => ['-', model, image.id as number, image]
const changed = (before: JsonObject, after: JsonObject): Row => ['~', 'pet', before.id as number, before, after]
const tagged = (sign: '+' | '-'): Row => {
  const row = { pet_tags: 1, tag_pets: 9 }
  return [sign, junction, [1, 9], sign === '-' ? row : undefined, sign === '+' ? row : undefined]
}

function describeEvent(event: Event): string {
  switch (event.verb) {
    case 'created':
      return `created ${event.model} ${event.id} ${event.data.weight ?? ''}`.trim()
    case 'updated':
      return `updated ${event.model} ${event.id} ${event.previous.weight} ${event.data.weight}`
    case 'destroyed':
      return `destroyed ${event.model} ${event.id} ${event.previous.weight ?? ''}`.trim()
    case 'addedTo':
      return `addedTo ${event.model} ${event.id} ${event.addedId}`
    case 'removedFrom':
      return `removedFrom ${event.model} ${event.id} ${event.removedId}`
  }
}

const cases: readonly (readonly [what: string, rows: readonly Row[], events: readonly string[]])[] = [
  [
    'a key that is destroyed and created again is both',
    [gone(pet(1, 5)), made(pet(1, 7))],
    ['destroyed pet 1 5', 'created pet 1 7'],
  ],
  [
    'keys that are swapped are destroyed and created each',
    [gone(pet(1, 5)), made(pet(-1, 5)), gone(pet(2, 6)), made(pet(1, 6)), gone(pet(-1, 5)), made(pet(2, 5))],
    ['destroyed pet 1 5', 'destroyed pet 2 6', 'created pet 1 6', 'created pet 2 5'],
  ],
  [
    'a destroy holds the state before the operation',
    [changed(pet(1, 5), pet(1, 1)), changed(pet(1, 1), pet(1, 2)), gone(pet(1, 2))],
    ['destroyed pet 1 5'],
  ],
  ['a record that is created and destroyed has no events', [made(pet(1, 5, 7)), gone(pet(1, 5, 7))], []],
  [
    'a key that is destroyed, created and destroyed is destroyed once, as it was before',
    [gone(pet(1, 5)), made(pet(1, 7)), gone(pet(1, 7))],
    ['destroyed pet 1 5'],
  ],
  [
    'a key that is created, destroyed and created again is created once',
    [made(pet(1, 5)), gone(pet(1, 5)), made(pet(1, 7))],
    ['created pet 1 7'],
  ],
  [
    'changes after the last destroy stay',
    [gone(pet(1, 5)), made(pet(1, 7)), changed(pet(1, 7), pet(1, 8))],
    ['destroyed pet 1 5', 'created pet 1 7', 'updated pet 1 7 8'],
  ],
  [
    'a record that is moved and then destroyed leaves the owner that it had before',
    [changed(pet(1, 5, 7), pet(1, 5, 8)), gone(pet(1, 5, 8))],
    ['removedFrom owner 7 1', 'destroyed pet 1 5'],
  ],
  [
    'an owner that is destroyed loses no members before it',
    [changed(pet(1, 5, 7), pet(1, 5)), gone(owner(7), 'owner')],
    ['updated pet 1 5 undefined', 'destroyed owner 7'],
  ],
  [
    'an owner that is destroyed loses no members after it',
    [gone(owner(7), 'owner'), changed(pet(1, 5, 7), pet(1, 5))],
    ['destroyed owner 7', 'updated pet 1 5 undefined'],
  ],
  [
    'an owner that is destroyed and created again gains members after that',
    [changed(pet(1, 5, 7), pet(1, 5)), gone(owner(7), 'owner'), made(owner(7), 'owner'), made(pet(2, 1, 7))],
    ['updated pet 1 5 undefined', 'destroyed owner 7', 'created owner 7', 'addedTo owner 7 2', 'created pet 2 1'],
  ],
  [
    'members that an owner loses between its end and its return are not those of the new one',
    [gone(owner(7), 'owner'), changed(pet(1, 5, 7), pet(1, 5)), made(owner(7), 'owner')],
    ['destroyed owner 7', 'updated pet 1 5 undefined', 'created owner 7'],
  ],
  [
    'an owner that is created and destroyed has no events of its members',
    [
      made(owner(7), 'owner'),
      changed(pet(1, 5), pet(1, 5, 7)),
      changed(pet(1, 5, 7), pet(1, 5)),
      gone(owner(7), 'owner'),
    ],
    ['updated pet 1 5 undefined', 'updated pet 1 5 undefined'],
  ],
  ['a member that is added and removed again has no events', [tagged('+'), tagged('-')], []],
  [
    'a member that is removed and added again is both',
    [tagged('-'), tagged('+')],
    ['removedFrom pet 1 9', 'removedFrom tag 9 1', 'addedTo pet 1 9', 'addedTo tag 9 1'],
  ],
]
for (const [what, rows, events] of cases) {
  test(`in one operation, ${what}`, () =>
    assert.deepEqual([...eventsOf(changesOf(rows), associations)].map(describeEvent), events))
}
