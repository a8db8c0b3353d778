import assert from 'node:assert/strict'
import { create, list, nothingStored, record, refused } from '../expect.ts'
import type { Api, Given, Scenario } from '../scenario.ts'

const json = 'application/json'
const form = 'application/x-www-form-urlencoded'

const post = (api: Api, type: string | undefined, text: string, more: Given['headers'] = {}) =>
  api.request('POST', '/specimen', { text, headers: { ...(type !== undefined && { 'content-type': type }), ...more } })

/** Request bodies and their media types. */
export const bodies: readonly Scenario[] = [
  {
    name: 'bodies: JSON is accepted under each of its media types',
    needs: ['bytes'],
    async run(api) {
      const types = [
        json,
        'application/json; charset=utf-8',
        'APPLICATION/JSON;Charset="UTF-8"',
        'text/json',
        'application/vnd.api+json',
        'application/merge-patch+json',
      ]
      for (const type of types) assert.equal(record(await post(api, type, '{"label":"Zoë"}'), 201).label, 'Zoë', type)
      assert.equal(record(await post(api, json, '\ufeff{"label":"mark"}'), 201).label, 'mark')
    },
  },
  {
    name: 'bodies: a form may use bracket notation',
    needs: ['bytes'],
    async run(api) {
      const text =
        'label=a+b%20%C3%A9&legs=4&alive=true&serial=007&notes[k][l]=v&notes[list][]=1&notes[list][]=2&weight=0.5'
      const made = record(await post(api, form, text), 201)
      assert.deepEqual(
        [made.label, made.legs, made.alive, made.serial, made.weight, made.notes],
        ['a b é', 4, true, '7', 0.5, { k: { l: 'v' }, list: ['1', '2'] }],
      )
      const updated = await api.request('PUT', `/specimen/${made.id}`, {
        text: 'legs=5&label=',
        headers: { 'content-type': `${form}; charset=UTF-8` },
      })
      assert.deepEqual([record(updated).legs, record(updated).label], [5, ''])
    },
  },
  {
    name: 'bodies: an id in a form names the record to destroy',
    needs: ['bytes'],
    async run(api) {
      const made = await create(api, 'specimen', { label: 'a' })
      const answer = await api.request('DELETE', '/specimen', {
        text: `id=${made.id}`,
        headers: { 'content-type': form },
      })
      assert.deepEqual(record(answer), made)
    },
  },
  {
    name: 'bodies: a missing body and an empty body of any type are equivalent',
    needs: ['bytes'],
    async run(api) {
      for (const type of [undefined, json, form]) assert.equal(record(await post(api, type, ''), 201).label, null)
      const { id } = await create(api, 'specimen', { label: 'a' })
      assert.equal(record(await api.request('PATCH', `/specimen/${id}`)).label, 'a')
    },
  },
  {
    name: 'bodies: malformed JSON is refused with its position and without internal details',
    needs: ['bytes'],
    async run(api) {
      for (const text of [
        '{"label": bad',
        '{"label":"a"',
        '{',
        'nul',
        "{'label':1}",
        '{"a":1}}',
        '[1,]',
        '{"label":"\u0001"}',
        'NaN',
      ]) {
        const problem = refused(await post(api, json, text), 'E_BAD_BODY')
        assert.match(String(problem.detail), /position \d+/)
        assert.doesNotMatch(JSON.stringify(problem), /node:|SyntaxError|\.ts|\.js|at JSON/)
      }
      await nothingStored(api, 'specimen')
    },
  },
  {
    name: 'bodies: a scalar is refused',
    needs: ['bytes'],
    async run(api) {
      for (const text of ['5', '"x"', 'true', 'null']) refused(await post(api, json, text), 'E_BAD_BODY')
    },
  },
  {
    name: 'bodies: an unsupported media type is refused and nothing is stored',
    needs: ['bytes'],
    async run(api) {
      const types = [
        'text/plain',
        'text/html',
        'application/octet-stream',
        'application/jsonp',
        'json',
        'application/json, text/plain',
        'application/json; charset=latin1',
        'application/json; charset=utf-16',
        'application/json; charset=utf-8; charset=latin1',
        'text/plain; application/json',
      ]
      for (const type of types) refused(await post(api, type, '{"label":"a"}'), 'E_UNSUPPORTED_MEDIA_TYPE')
      refused(await post(api, json, '{"label":"a"}', { 'content-encoding': 'gzip' }), 'E_UNSUPPORTED_MEDIA_TYPE')
      await nothingStored(api, 'specimen')
      record(await post(api, json, '{"label":"a"}', { 'content-encoding': 'Identity' }), 201)
    },
  },
  {
    name: 'bodies: a body over maxBodyBytes is refused and the service keeps answering',
    needs: ['bytes'],
    settings: { limits: { maxBodyBytes: 200 } },
    async run(api) {
      const body = (bytes: number) => `{"label":"${'a'.repeat(bytes - 12)}"}`
      assert.equal(String(record(await post(api, json, body(200)), 201).label).length, 188)
      refused(await post(api, json, body(201)), 'E_BODY_TOO_LARGE', { limit: 'maxBodyBytes' })
      refused(await post(api, json, body(20_000)), 'E_BODY_TOO_LARGE', { limit: 'maxBodyBytes' })
      refused(await post(api, form, `label=${'a'.repeat(300)}`), 'E_BODY_TOO_LARGE', { limit: 'maxBodyBytes' })
      assert.equal(list(await api.request('GET', '/specimen')).length, 1)
    },
  },
  {
    name: 'bodies: a body nested deeper than the limit is refused, at any depth',
    needs: ['bytes'],
    async run(api) {
      const nested = (levels: number) => `{"notes":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
      record(await post(api, json, nested(32)), 201)
      for (const levels of [33, 10_000, 200_000])
        refused(await post(api, json, nested(levels)), 'E_BAD_BODY', { limit: 'maxJsonDepth' })
      const brackets = (levels: number) => `notes${'[a]'.repeat(levels)}=1`
      record(await post(api, form, brackets(8)), 201)
      for (const levels of [9, 10_000])
        refused(await post(api, form, brackets(levels)), 'E_BAD_REQUEST', { limit: 'maxParameterDepth' })
    },
  },
  {
    name: 'bodies: a form with too many names is refused',
    needs: ['bytes'],
    async run(api) {
      const pairs = (count: number) => Array.from({ length: count }, (_, index) => `notes[n${index}]=1`).join('&')
      assert.equal(Object.keys(record(await post(api, form, pairs(1000)), 201).notes as object).length, 1000)
      refused(await post(api, form, pairs(1001)), 'E_BAD_REQUEST', { limit: 'maxParameters' })
      refused(await post(api, form, 'notes[99999999]=1'), 'E_BAD_REQUEST', { limit: 'maxParameters' })
    },
  },
]
