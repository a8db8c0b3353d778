import assert from 'node:assert/strict'
import type { JsonObject } from '../../protocol/json.ts'
import { address, column, create, invalid, record, refused } from '../expect.ts'
import type { Scenario } from '../scenario.ts'

/** A parameter has the same meaning wherever it is sent. Precedence: path, body, query string. */
export const parameters: readonly Scenario[] = [
  {
    name: 'parameters: query string and body are combined, and the body wins',
    async run(api) {
      const answer = await api.request('POST', '/specimen?label=query&legs=4', { body: { label: 'body', weight: 1 } })
      const { label, legs, weight } = record(answer, 201)
      assert.deepEqual([label, legs, weight], ['body', 4, 1])
    },
  },
  {
    name: 'parameters: null and empty strings in the body override the query string',
    async run(api) {
      const answer = await api.request('POST', '/specimen?label=query&legs=4', { body: { label: '', legs: null } })
      const { label, legs } = record(answer, 201)
      assert.deepEqual([label, legs], ['', null])
    },
  },
  {
    name: 'parameters: the body of a GET is used like any body',
    needs: ['anyRequest'],
    async run(api) {
      const a = await create(api, 'specimen', { label: 'a' })
      await create(api, 'specimen', { label: 'b' })
      const one = await api.request('GET', `/specimen/${a.id}`, { body: { id: 999999, select: 'label' } })
      assert.deepEqual(record(one), { id: a.id, label: 'a' })
      const all = await api.request('GET', '/specimen?label=b&limit=2', { body: { label: 'a', limit: 1 } })
      assert.deepEqual(column(all, 'label'), ['a'])
      assert.equal((await api.request('GET', '/specimen?label=b')).status, 200, 'the list by address alone')
    },
  },
  {
    name: 'parameters: the body of a GET is refused like any body',
    needs: ['anyRequest', 'bytes'],
    async run(api) {
      const text = await api.request('GET', '/specimen', { text: '{', headers: { 'content-type': 'text/plain' } })
      refused(text, 'E_UNSUPPORTED_MEDIA_TYPE')
      refused(await api.request('GET', '/specimen', { text: '{' }), 'E_BAD_BODY')
      refused(await api.request('GET', '/specimen', { body: [1] }), 'E_BAD_BODY')
    },
  },
  {
    name: 'parameters: brackets, lists and repetition in a query string',
    async run(api) {
      for (const [label, legs] of [
        ['a', 1],
        ['b', 2],
        ['c', 3],
      ] as const)
        await create(api, 'specimen', { label, legs })
      const cases = [
        ['legs[>]=1', ['b', 'c']],
        ['legs[%3E%3D]=2&legs[<]=3', ['b']],
        ['legs=1&legs=3', ['a', 'c']],
        ['legs[]=1&legs[]=2', ['a', 'b']],
        ['legs[1]=3&legs[0]=1', ['a', 'c']],
        ['or[0][label]=a&or[1][legs]=3', ['a', 'c']],
        ['where[legs][>]=2', ['c']],
        ['where[or][0][label]=a&where[or][1][label]=b', ['a', 'b']],
        ['label[in][]=a&label[in][]=b', ['a', 'b']],
        ['not[label]=a', ['b', 'c']],
        ['sort[legs]=DESC&limit=1', ['c']],
        ['sort[]=legs%20DESC&limit=1', ['c']],
        ['&&label=a&=x&', ['a']],
      ] as const
      for (const [query, labels] of cases) {
        assert.deepEqual(column(await api.request('GET', `/specimen?${query}`), 'label'), labels, query)
      }
    },
  },
  {
    name: 'parameters: plus is a space, and percent-encoding is UTF-8',
    async run(api) {
      const made = record(await api.request('GET', '/specimen/create?label=a+b%2Bc%20%F0%9F%A6%81'), 201)
      assert.equal(made.label, 'a b+c 🦁')
      assert.deepEqual(column(await api.request('GET', '/specimen?label=a+b%2Bc%20%F0%9F%A6%81'), 'id'), [made.id])
    },
  },
  {
    name: 'parameters: the cache-buster `_` is ignored',
    async run(api) {
      await create(api, 'specimen', { label: 'a' })
      assert.deepEqual(column(await api.request('GET', '/specimen?_=1732151515'), 'label'), ['a'])
      assert.equal(record(await api.request('GET', '/specimen/create?label=b&_=1'), 201).label, 'b')
    },
  },
  {
    name: 'parameters: where is used instead of plain attributes',
    async run(api) {
      for (const label of ['a', 'b']) await create(api, 'specimen', { label })
      const both = address('/specimen', { label: 'b', where: { label: 'a' } })
      assert.deepEqual(column(await api.request('GET', both), 'label'), ['a'])
      assert.deepEqual(column(await api.request('GET', address('/specimen', { label: 'b', where: {} })), 'label'), [
        'a',
        'b',
      ])
    },
  },
  {
    name: 'parameters: an unknown name in a filter is refused',
    async run(api) {
      for (const name of ['nosuch', 'Label', 'label ', 'labels', 'legs.x', 'access_token', 'animals', 'the code']) {
        refused(await api.request('GET', address('/specimen', { [name]: '1' })), 'E_BAD_CRITERIA', { attribute: name })
      }
      refused(await api.request('GET', '/enclosure?select=code&the%20code=A'), 'E_BAD_CRITERIA')
      refused(await api.request('GET', '/keeper?animals=1'), 'E_BAD_CRITERIA', { attribute: 'animals' })
    },
  },
  {
    name: 'parameters: an attribute may have the name of a parameter in bodies and in where',
    async run(api) {
      const body = { where: 'here', limit: 3, sort: 'up', by: 'x', toString: 'y', hasOwnProperty: 'z' }
      const { id, ...made } = await create(api, 'order', body)
      assert.deepEqual(made, body)
      const wheres: readonly JsonObject[] = [
        { where: 'here' },
        { limit: 3 },
        { sort: 'up' },
        { toString: 'y' },
        { hasOwnProperty: 'z' },
      ]
      for (const where of wheres) {
        assert.deepEqual(column(await api.request('GET', address('/order', { where })), 'id'), [id])
      }
      assert.deepEqual(column(await api.request('GET', '/order?toString=y&hasOwnProperty=z&sort=limit%20DESC'), 'id'), [
        id,
      ])
      assert.deepEqual(record(await api.request('PATCH', `/order/${id}`, { body: { limit: 4 } })).limit, 4)
    },
  },
  {
    name: 'parameters: parameters that shape the answer are not stored',
    async run(api) {
      const answer = await api.request('POST', '/specimen?select=label&limit=2&populate=false', {
        body: { label: 'a' },
      })
      assert.equal(record(answer, 201).label, 'a')
      invalid(await api.request('POST', '/specimen', { body: { label: 'a', limit: 2 } }), { limit: ['unknown'] })
    },
  },
]
