import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { invalid, isoForm, list, nothingStored, record, refused, create as seed, stored } from '../expect.ts'
import type { Scenario } from '../scenario.ts'

/** Creating records: stored values, defaults and validation. */
export const create: readonly Scenario[] = [
  {
    name: 'create: a value of each type is answered as it was sent',
    async run(api) {
      const body = {
        label: 'Zoë 🦁\n"\\/\u2028',
        weight: 0.1 + 0.2,
        legs: -4,
        serial: '9223372036854775807',
        alive: false,
        notes: { b: [1, null, { c: 'x' }], a: '' },
        bornAt: '2026-11-21T03:00:00.123Z',
        token: '0190163d-8694-739b-aea5-966c26f8ad90',
        photo: 'AAEC/w==',
      }
      const made = record(await api.request('POST', '/specimen', { body }), 201)
      const { id, createdAt, updatedAt, ...rest } = made
      assert.deepEqual(rest, body)
      assert.equal(typeof id, 'number')
      assert.match(String(createdAt), isoForm)
      assert.equal(updatedAt, createdAt)
      assert.deepEqual(await stored(api, 'specimen', id), made)
      assert.deepEqual(list(await api.request('GET', '/specimen')), [made])
    },
  },
  {
    name: 'create: an attribute that was not sent is present and null',
    async run(api) {
      const { id: _, createdAt: __, updatedAt: ___, ...rest } = await seed(api, 'specimen', {})
      const names = ['label', 'weight', 'legs', 'serial', 'alive', 'notes', 'bornAt', 'token', 'photo']
      assert.deepEqual(rest, Object.fromEntries(names.map((name) => [name, null])))
      assert.deepEqual(Object.keys(rest), names)
    },
  },
  {
    name: 'create: a default applies only to an attribute that was not sent',
    async run(api) {
      const plain = await seed(api, 'keeper', { name: 'Ann' })
      assert.deepEqual([plain.role, plain.nickname, plain.hired], ['trainee', 'none', true])
      const other = await seed(api, 'keeper', { name: 'Bob', role: 'head', nickname: null, hired: false })
      assert.deepEqual([other.role, other.nickname, other.hired], ['head', null, false])
      const empty = await seed(api, 'keeper', { name: 'Cy', nickname: '' })
      assert.equal(empty.nickname, '')
    },
  },
  {
    name: 'create: null is stored where it is allowed and refused elsewhere',
    async run(api) {
      const answer = await api.request('POST', '/keeper', { body: { name: null, role: null, hired: null, age: null } })
      invalid(answer, { name: ['required'], role: ['allowNull'], hired: ['allowNull'] })
      await nothingStored(api, 'keeper')
    },
  },
  {
    name: 'create: a required value must be present and not empty',
    async run(api) {
      for (const body of [{}, { name: null }, { name: '' }] as readonly JsonObject[]) {
        invalid(await api.request('POST', '/keeper', { body }), { name: ['required'] })
      }
      invalid(await api.request('GET', '/keeper/create'), { name: ['required'] })
      invalid(await api.request('GET', '/keeper/create?name='), { name: ['required'] })
      invalid(await api.request('POST', '/feeding', { body: {} }), { grams: ['required'], animal: ['required'] })
      await nothingStored(api, 'keeper')
    },
  },
  {
    name: 'create: every invalid attribute is named with every rule it breaks',
    async run(api) {
      const body = {
        name: 'A',
        email: 'nobody',
        age: 5.5,
        role: 'king',
        hired: 'perhaps',
        home: 'not a url',
        plate: 'ab-1',
        lucky: 2,
        mentor: 'abc',
      }
      const found = invalid(await api.request('POST', '/keeper', { body }), {
        name: ['minLength'],
        email: ['isEmail'],
        age: ['type'],
        role: ['isIn'],
        hired: ['type'],
        home: ['isURL'],
        plate: ['regex'],
        lucky: ['custom'],
        mentor: ['type'],
      })
      assert.equal(found.lucky?.[0]?.message, 'is not odd')
      await nothingStored(api, 'keeper')
    },
  },
  {
    name: 'create: rules at their boundary values',
    async run(api) {
      const fine: readonly JsonObject[] = [
        { name: 'ab', age: 16 },
        { name: 'a'.repeat(20), age: 99 },
        // Lengths count characters (code points), not UTF-16 units or bytes.
        { name: '🦁🦁', plate: 'ZH-1' },
        { name: '🦁'.repeat(20), lucky: 3 },
      ]
      for (const values of fine) await seed(api, 'keeper', values)
      const wrong = [
        [{ name: 'a' }, { name: ['minLength'] }],
        [{ name: '🦁' }, { name: ['minLength'] }],
        [{ name: 'a'.repeat(21) }, { name: ['maxLength'] }],
        [{ name: '🦁'.repeat(21) }, { name: ['maxLength'] }],
        [{ name: 'Ann', age: 15 }, { age: ['min'] }],
        [{ name: 'Ann', age: 100 }, { age: ['max'] }],
        [{ name: 'Ann', plate: 'x ZH-1' }, { plate: ['regex'] }],
        [{ name: 'Ann', plate: 'ZH-1\n' }, { plate: ['regex'] }],
        [{ name: 'Ann', role: 'Head' }, { role: ['isIn'] }],
      ] as const
      for (const [body, rules] of wrong) invalid(await api.request('POST', '/keeper', { body }), rules)
    },
  },
  {
    name: 'create: every unknown attribute is named in the refusal',
    async run(api) {
      const body = { label: 'a', nosuch: 1, Label: 'b', 'label ': 'c', 'legs.x': 1, isAdmin: true }
      const unknown = {
        nosuch: ['unknown'],
        Label: ['unknown'],
        'label ': ['unknown'],
        'legs.x': ['unknown'],
        isAdmin: ['unknown'],
      }
      invalid(await api.request('POST', '/specimen', { body }), unknown)
      invalid(await api.request('POST', '/keeper', { body: { age: 7, nosuch: 1, mentor: { name: 'A', nme: 2 } } }), {
        age: ['min'],
        name: ['required'],
        nosuch: ['unknown'],
        'mentor.nme': ['unknown'],
      })
      invalid(await api.request('GET', '/specimen/create?label=a&nosuch=1'), { nosuch: ['unknown'] })
      await nothingStored(api, 'specimen')
    },
  },
  {
    name: 'create: the name of a column is not accepted in place of its attribute',
    async run(api) {
      invalid(await api.request('POST', '/enclosure', { body: { code: 'a', select: 'b' } }), { select: ['unknown'] })
      invalid(await api.request('POST', '/enclosure', { body: { 'the code': 'a' } }), {
        'the code': ['unknown'],
        code: ['required'],
      })
    },
  },
  {
    name: 'create: a list of anything but objects is refused',
    async run(api) {
      refused(await api.request('POST', '/specimen', { body: ['a'] }), 'E_BAD_BODY')
      refused(await api.request('POST', '/specimen', { body: [[{ label: 'a' }]] }), 'E_BAD_BODY')
      await nothingStored(api, 'specimen')
    },
  },
  {
    name: 'create: a schema validates a JSON value and may transform it',
    async run(api) {
      const made = await seed(api, 'chart', { points: [{ x: 1 }, { x: 2, y: 3 }] })
      assert.deepEqual(made.points, [
        { x: 1, y: 0 },
        { x: 2, y: 3 },
      ])
      assert.deepEqual(await stored(api, 'chart', made.id), made)
      const found = invalid(await api.request('POST', '/chart', { body: { points: [{ x: 1 }, { x: 'a' }, 5] } }), {
        points: ['schema', 'schema'],
      })
      assert.deepEqual(
        found.points?.map(({ message }) => / at (\d)/.exec(message)?.[1]),
        ['1', '2'],
      )
      invalid(await api.request('POST', '/chart', { body: {} }), { points: ['required'] })
      invalid(await api.request('POST', '/chart', { body: { points: 'x' } }), { points: ['schema'] })
    },
  },
  {
    name: 'create: any JSON value can be stored; JSON null is null',
    async run(api) {
      const values: readonly Json[] = [
        0,
        '',
        'text',
        false,
        [],
        {},
        [[]],
        { a: { b: {} } },
        1e21,
        '{"a":1}',
        [null],
        { '': 1, 'a b': 2, toString: 3 },
      ]
      for (const notes of values) {
        const made = await seed(api, 'specimen', { notes })
        assert.deepEqual(made.notes, notes)
        assert.deepEqual((await stored(api, 'specimen', made.id)).notes, notes)
      }
      const { id } = await seed(api, 'specimen', { notes: null })
      assert.deepEqual(
        list(await api.request('GET', '/specimen?where={"notes":null}')).map((found) => found.id),
        [id],
      )
    },
  },
  {
    name: 'create: a to-one accepts a key, the key as a string, null, or an embedded record',
    async run(api) {
      const ann = await seed(api, 'keeper', { name: 'Ann' })
      for (const keeper of [ann.id as number, String(ann.id), ann]) {
        assert.equal((await seed(api, 'animal', { name: 'Leo', keeper })).keeper, ann.id)
      }
      assert.equal((await seed(api, 'animal', { name: 'Leo', keeper: null })).keeper, null)
      assert.equal((await seed(api, 'animal', { name: 'Leo' })).keeper, null)
      const cage = await seed(api, 'enclosure', { code: 'C 1' })
      for (const enclosure of ['C 1', cage]) {
        assert.equal((await seed(api, 'animal', { name: 'Leo', enclosure })).enclosure, 'C 1')
      }
    },
  },
]
