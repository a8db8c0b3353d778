import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { create, invalid, nothingStored, record } from '../expect.ts'
import type { Answer, Api, Need, Scenario } from '../scenario.ts'

const form = 'application/x-www-form-urlencoded'

const multipart = (fields: Readonly<Record<string, string>>): string =>
  `${Object.entries(fields)
    .map(([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    .join('')}--b--\r\n`

const xml = (fields: Readonly<Record<string, string>>): string =>
  `<r>${Object.entries(fields)
    .map(([name, value]) => `<${name}>${value}</${name}>`)
    .join('')}</r>`

type Send = (api: Api, model: string, fields: Readonly<Record<string, string>>, id?: Json) => Promise<Answer>

const bodyOf =
  (type: string, write: (fields: Readonly<Record<string, string>>) => string): Send =>
  (api, model, fields, id) =>
    api.request(id === undefined ? 'POST' : 'PATCH', id === undefined ? `/${model}` : `/${model}/${id}`, {
      text: write(fields),
      headers: { 'content-type': type },
    })

/** Every way to send values that are all text. */
const spellings: readonly (readonly [name: string, needs: readonly Need[], send: Send])[] = [
  ['a form', ['bytes'], bodyOf(form, (fields) => String(new URLSearchParams(fields)))],
  ['a multipart body', ['bytes'], bodyOf('multipart/form-data; boundary=b', multipart)],
  ['an XML body', ['bytes'], bodyOf('application/xml', xml)],
  [
    'a query string',
    [],
    (api, model, fields, id) =>
      api.request('GET', `/${model}/${id === undefined ? 'create' : `update/${id}`}?${new URLSearchParams(fields)}`),
  ],
]

const emptied = ['weight', 'legs', 'serial', 'alive', 'notes', 'bornAt', 'token'] as const
const fieldsOf = (names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, '']))
const nullsOf = (names: readonly string[]): JsonObject => Object.fromEntries(names.map((name) => [name, null]))

/** Fields of forms: a browser sends an empty one as an empty text, and a checkbox as `on`. */
export const forms: readonly Scenario[] = spellings.flatMap(([spelling, needs, send]): readonly Scenario[] => [
  {
    name: `forms: an empty text in ${spelling} is null where the attribute cannot be an empty text`,
    needs,
    async run(api) {
      const given = { weight: 1, legs: 2, serial: '3', alive: true, notes: 'n', bornAt: 0, token: uuid, label: 'a' }
      const { id } = await create(api, 'specimen', given)
      const fields = fieldsOf([...emptied, 'label', 'photo'])
      const expected = { ...nullsOf(emptied), label: '', photo: '' }
      assert.deepEqual(pick(record(await send(api, 'specimen', fields, id)), expected), expected)
      assert.deepEqual(pick(record(await send(api, 'specimen', fields), 201), expected), expected)

      const ruled = fieldsOf(['email', 'age', 'home', 'plate', 'lucky', 'mentor'])
      const keeper = record(await send(api, 'keeper', { ...ruled, name: 'Ann', pin: '' }), 201)
      assert.deepEqual(pick(keeper, ruled), nullsOf(Object.keys(ruled)))
      const animal = record(await send(api, 'animal', { name: 'Leo', enclosure: '', weight: '' }), 201)
      assert.deepEqual([animal.enclosure, animal.weight], [null, null])
    },
  },
  {
    name: `forms: an empty text in ${spelling} for a required attribute, or one with a default, is refused`,
    needs,
    async run(api) {
      invalid(await send(api, 'feeding', { grams: '', animal: '' }), { grams: ['required'], animal: ['required'] })
      invalid(await send(api, 'keeper', { name: '', role: '', hired: '' }), {
        name: ['required'],
        role: ['isIn'],
        hired: ['type'],
      })
      await nothingStored(api, 'keeper')
    },
  },
  {
    name: `forms: a checkbox in ${spelling} is true when it sends \`on\``,
    needs,
    async run(api) {
      const made = record(await send(api, 'specimen', { alive: 'on', label: 'on' }), 201)
      assert.deepEqual([made.alive, made.label], [true, 'on'])
      invalid(await send(api, 'specimen', { alive: 'off', legs: 'on' }), { alive: ['type'], legs: ['type'] })
    },
  },
])

const uuid = '00000000-0000-0000-0000-000000000001'
const pick = (values: JsonObject, { ...names }: JsonObject): JsonObject =>
  Object.fromEntries(Object.keys(names).map((name) => [name, values[name] as Json]))
