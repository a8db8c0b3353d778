import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { address, column, create, invalid, list, record, refused, stored } from '../expect.ts'
import type { Scenario } from '../scenario.ts'

/** Strings that have a meaning in SQL, JSON paths, JavaScript or HTML. */
const payloads = [
  "' or '1'='1",
  "'; drop table specimen; --",
  '"; drop table specimen; --',
  'label" desc; --',
  'label) desc --',
  "label' collate nocase",
  'label/**/desc',
  '(select 1)',
  'label, (select count(*) from keeper)',
  'case when 1=1 then id else legs end',
  'specimen.label',
  '"label"',
  '`label`',
  '[label]',
  'label::text',
  'notes->>a',
  "notes->'$.a'",
  '$.a[*]',
  'rowid',
  '_rowid_',
  'oid',
  'ctid',
  'count(*)',
  '1',
  '$1',
  '?',
  '\\',
  '%',
  '*',
  '\u0000',
  'ｌabel',
  'lаbel', // with a Cyrillic letter
  'label\u200b',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'length',
  'then',
  'attributes',
]

/** Injection and prototype pollution. */
export const hostileInput: readonly Scenario[] = [
  {
    name: 'hostile: an unknown name in sort, select, omit or where is refused',
    async run(api) {
      const made = await create(api, 'specimen', { label: 'a' })
      for (const text of payloads) {
        const asked: readonly Readonly<Record<string, Json>>[] = [
          { sort: text },
          { sort: `${text} DESC` },
          { sort: `label ${text}` },
          { sort: [{ [text]: 'ASC' }] },
          { sort: [{ label: text }] },
          { sort: { [text]: 1 } },
          { select: [text] },
          { omit: [text] },
          { where: { [text]: 'a' } },
          { where: { or: [{ [text]: 'a' }] } },
          { where: { not: { [text]: null } } },
          { where: { label: { [text]: 'a' } } },
          { populate: [text] },
        ]
        for (const query of asked) {
          const answer = await api.request('GET', address('/specimen', query))
          assert.equal(answer.status, 400, `${JSON.stringify(query)}: ${answer.text}`)
        }
      }
      assert.deepEqual(list(await api.request('GET', '/specimen')), [made])
    },
  },
  {
    name: 'hostile: a value is never interpreted',
    async run(api) {
      const storable = payloads.filter((text) => text !== '\u0000')
      for (const label of storable) {
        const { id } = await create(api, 'specimen', { label, notes: { [label]: label } })
        assert.deepEqual([(await stored(api, 'specimen', id)).label], [label])
        const conditions: readonly JsonObject[] = [
          { label },
          { label: [label] },
          { label: { startsWith: label, endsWith: label } },
          { label: { contains: label } },
        ]
        for (const where of conditions) {
          const found = column(await api.request('GET', address('/specimen', { where, limit: '100' })), 'id')
          assert.ok(found.includes(id), JSON.stringify(where))
        }
      }
      assert.equal(list(await api.request('GET', '/specimen?limit=1000')).length, storable.length)
    },
  },
  {
    name: 'hostile: names of JavaScript properties are refused as parameters and attributes, and change nothing',
    needs: ['bytes'],
    async run(api) {
      const made = await create(api, 'specimen', { label: 'a' })
      for (const name of ['__proto__', 'constructor', 'prototype']) {
        for (const query of [
          `${name}=1`,
          `${name}[polluted]=1`,
          `label[${name}]=1`,
          `where[${name}][polluted]=1`,
          `sort[${name}]=1`,
        ]) {
          assert.equal((await api.request('GET', `/specimen?${query}`)).status, 400, query)
          assert.equal((await api.request('GET', `/specimen/update/${made.id}?${query}`)).status, 400, query)
        }
        const json = { 'content-type': 'application/json' }
        const form = { 'content-type': 'application/x-www-form-urlencoded' }
        const bodies = [
          await api.request('POST', '/specimen', { text: `{"label":"b","${name}":{"polluted":1}}`, headers: json }),
          await api.request('PATCH', `/specimen/${made.id}`, { text: `{"${name}":1}`, headers: json }),
          await api.request('POST', '/specimen', { text: `label=b&${name}[polluted]=1`, headers: form }),
        ]
        for (const answer of bodies) assert.equal(answer.status, 400, answer.text)
      }
      assert.equal(({} as { polluted?: unknown }).polluted, undefined)
      assert.deepEqual(list(await api.request('GET', '/specimen')), [made])
    },
  },
  {
    name: 'hostile: names of JavaScript properties inside JSON values are stored as data',
    needs: ['bytes'],
    async run(api) {
      const text = '{"notes":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":null}}'
      const answer = await api.request('POST', '/specimen', { text, headers: { 'content-type': 'application/json' } })
      assert.equal(answer.status, 201, answer.text)
      const { id } = record(answer, 201)
      for (const { text } of [answer, await api.request('GET', `/specimen/${id}`)]) {
        const notes = JSON.parse(text).notes as object
        assert.deepEqual(Object.keys(notes).sort(), ['__proto__', 'constructor', 'toString'])
      }
      assert.equal(({} as { polluted?: unknown }).polluted, undefined)
    },
  },
  {
    name: 'hostile: an object in place of a scalar is refused',
    async run(api) {
      const made = await create(api, 'keeper', { name: 'Ann', email: 'ann@zoo.test' })
      const objects: readonly Json[] = [
        { '!=': null },
        { '>': '' },
        { contains: '' },
        {},
        ['ann@zoo.test'],
        [[]],
        { toString: 'x' },
      ]
      for (const value of objects) {
        invalid(await api.request('POST', '/keeper', { body: { name: 'Bob', email: value } }), { email: ['type'] })
        invalid(await api.request('PATCH', `/keeper/${made.id}`, { body: { name: value } }), { name: ['type'] })
        invalid(await api.request('PATCH', `/keeper/${made.id}`, { body: { hired: value } }), { hired: ['type'] })
        refused(await api.request('PATCH', '/keeper', { body: { id: value, name: 'Bob' } }), 'E_BAD_REQUEST')
        refused(await api.request('DELETE', '/keeper', { body: { id: value } }), 'E_BAD_REQUEST')
      }
      assert.equal((await api.request('GET', '/keeper/create?name[!]=x')).status, 400)
      assert.equal((await api.request('DELETE', '/keeper?id[!]=0')).status, 400)
      assert.deepEqual(list(await api.request('GET', '/keeper?populate=false')), [made])
    },
  },
  {
    name: 'hostile: a write does not accept a condition',
    async run(api) {
      for (const label of ['a', 'b']) await create(api, 'specimen', { label })
      const asked = [
        await api.request('DELETE', '/specimen', { body: { where: {} } }),
        await api.request('DELETE', '/specimen?where={}'),
        await api.request('DELETE', '/specimen?label=a'),
        await api.request('PATCH', '/specimen?where={}', { body: { label: 'x' } }),
        await api.request('PUT', '/specimen', { body: { where: { label: 'a' }, label: 'x' } }),
      ]
      for (const answer of asked) refused(answer, 'E_BAD_REQUEST')
      assert.deepEqual(column(await api.request('GET', '/specimen'), 'label'), ['a', 'b'])
    },
  },
  {
    name: 'hostile: stored text is answered as JSON, whatever it contains',
    needs: ['bytes'],
    async run(api) {
      const label = '</script><script>alert(1)</script>\u2028\r\nSet-Cookie: a=b'
      const { id } = await create(api, 'specimen', { label })
      const answer = await api.request('GET', `/specimen/${id}`, { headers: { accept: 'text/html' } })
      assert.equal(record(answer).label, label)
      assert.match(answer.header('content-type') ?? '', /^application\/json; charset=utf-8$/)
      assert.equal(answer.header('x-content-type-options'), 'nosniff')
      assert.equal(answer.header('set-cookie'), undefined)
    },
  },
]
