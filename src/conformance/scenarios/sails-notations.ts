import assert from 'node:assert/strict'
import { address, column, create, record, refused } from '../expect.ts'
import type { Scenario } from '../scenario.ts'

/** Notations of requests that clients of Sails 0.x and 1.x use beside the common ones. */
export const sailsNotations: readonly Scenario[] = [
  {
    name: 'Sails notations: text operators in front of attributes, and combinations as JSON text',
    async run(api) {
      for (const [label, legs] of [
        ['ann', 2],
        ['anton', 4],
        ['bea', 4],
      ] as const) {
        await create(api, 'specimen', { label, legs })
      }
      const cases: readonly (readonly [query: string, labels: readonly string[]])[] = [
        [address('', { where: { like: { label: 'an%n' } } }), ['ann', 'anton']],
        [address('', { where: { startsWith: { label: 'an' }, legs: 4 } }), ['anton']],
        [
          address('', { where: { or: [{ contains: { label: 'e' } }, { endsWith: { label: 'n' } }] } }),
          ['ann', 'anton', 'bea'],
        ],
        ['?startsWith[label]=ant', ['anton']],
        ['?like[label]=b%25', ['bea']],
        ['?like={"label":"b%25"}', ['bea']],
        ['?startsWith={"label":"an"}&contains={"label":"to"}', ['anton']],
        [address('', { or: [{ label: 'ann' }, { legs: 4 }] }), ['ann', 'anton', 'bea']],
        [address('', { or: [{ label: 'ann' }, { label: 'bea' }], legs: '4' }), ['bea']],
        [address('', { not: { legs: 4 } }), ['ann']],
        [address('', { sort: { legs: 0, label: 1 } }), ['anton', 'bea', 'ann']],
        ['?sort[legs]=0&sort[label]=-1', ['bea', 'anton', 'ann']],
      ]
      for (const [query, labels] of cases) {
        assert.deepEqual(column(await api.request('GET', `/specimen${query}`), 'label'), labels, query)
      }
      for (const query of [
        '?or=[{"label"',
        '?or=x',
        '?like=x',
        '?like={"label"',
        '?like=["ann"]',
        '?like[nix]=x',
        '?like[legs]=x',
        '?startsWith[label][a]=x',
      ]) {
        refused(await api.request('GET', `/specimen${query}`), 'E_BAD_CRITERIA')
      }
    },
  },
  {
    name: 'Sails notations: findOne as a shortcut, and the members of an association as `fks`',
    async run(api) {
      const keeper = await create(api, 'keeper', { name: 'Ann' })
      const animal = await create(api, 'animal', { name: 'Rex' })
      assert.equal(record(await api.request('GET', `/keeper/findOne/${keeper.id}`)).name, 'Ann')
      refused(await api.request('GET', '/keeper/findOne/999999'), 'E_NO_SUCH_RECORD')
      const body = { fks: [animal.id as number] }
      const replaced = record(await api.request('PUT', `/keeper/${keeper.id}/animals`, { body }))
      assert.deepEqual(
        (replaced.animals as readonly { readonly id: number }[]).map(({ id }) => id),
        [animal.id],
      )
      const query = `/keeper/${keeper.id}/animals/replace?fks=[]`
      assert.deepEqual(record(await api.request('GET', query)).animals, [])
    },
  },
  {
    name: 'unknown names: parameters of other systems and misspelt attributes are named in the error',
    async run(api) {
      const cases: readonly (readonly [name: string, hint: RegExp])[] = [
        ['_limit', /did you mean the parameter "limit"\?$/],
        ['$limit', /did you mean the parameter "limit"\?$/],
        ['LIMIT', /did you mean the parameter "limit"\?$/],
        ['page', /did you mean the parameter "skip"\?$/],
        ['filter', /did you mean the parameter "where"\?$/],
        ['_sort', /did you mean the parameter "sort"\?$/],
        ['include', /did you mean the parameter "populate"\?$/],
        ['$or', /did you mean the parameter "or"\?$/],
        ['AND', /did you mean the parameter "and"\?$/],
        ['Label', /did you mean "label"\?$/],
        ['lable', /did you mean "label"\?$/],
        ['nosuchthing', /no attribute "nosuchthing"$/],
        ['label[StartsWith]', /Unknown operator "StartsWith" for "label"; did you mean "startsWith"\?$/],
        ['label[$in]', /did you mean "in"\?$/],
        ['label[gte]', /did you mean ">="\?$/],
        ['label[$ne]', /did you mean "!="\?$/],
        ['label[eq]', /equality is the value without an operator$/],
        ['label[nosuchthing]', /Unknown operator "nosuchthing" for "label"$/],
      ]
      for (const [name, hint] of cases) {
        const { detail } = refused(await api.request('GET', `/specimen?${name}=1`), 'E_BAD_CRITERIA')
        assert.match(detail as string, hint)
      }
      const populated = await api.request('GET', '/keeper?populate=Animal')
      assert.match(
        refused(populated, 'E_BAD_CRITERIA').detail as string,
        /no association "Animal"; did you mean "animals"\?$/,
      )
      const body = { name: 'Ann', emial: 'x' }
      const { detail } = refused(await api.request('POST', '/keeper', { body }), 'E_INVALID_ATTRIBUTES')
      assert.match(detail as string, /did you mean "email"\?/)
    },
  },
]
