import assert from 'node:assert/strict'
import type { Json } from '../../protocol/json.ts'
import { column, create, invalid, record, refused, stored } from '../expect.ts'
import { createFixtures, embedded, members } from '../member-fixtures.ts'
import type { Scenario } from '../scenario.ts'

/** Removing and replacing the members of associations. */
export const membershipRemoval: readonly Scenario[] = [
  {
    name: 'remove: by each route; the answer is the parent without the child, which still exists',
    async run(api) {
      const { ann, leo, tom, night, day } = await createFixtures(api)
      for (const [association, model, gone, left] of [
        ['animals', 'animal', leo, tom],
        ['teams', 'team', night, day],
        ['favourites', 'animal', leo, tom],
      ] as const) {
        const base = `/keeper/${ann}/${association}`
        const spellings = [
          () => api.request('DELETE', base, { body: { id: gone } }),
          () => api.request('DELETE', `${base}?id=${gone}`),
          () => api.request('DELETE', `${base}/${gone}`),
          () => api.request('GET', `${base}/remove/${gone}`),
        ]
        for (const ask of spellings) {
          record(await api.request('PUT', base, { body: [gone, left] }))
          assert.deepEqual(embedded(await ask(), association), [left])
          assert.deepEqual(await members(api, base), [left])
          assert.equal((await stored(api, model, gone)).id, gone)
        }
      }
    },
  },
  {
    name: 'remove: a record that is not a member changes nothing',
    async run(api) {
      const { ann, bob, leo, night } = await createFixtures(api)
      record(await api.request('PUT', `/keeper/${ann}/animals/${leo}`))
      record(await api.request('PUT', `/keeper/${ann}/teams/${night}`))
      const before = await stored(api, 'animal', leo)
      for (const path of [`animals/${leo}`, `teams/${night}`, 'animals/999999', 'teams/999999']) {
        record(await api.request('DELETE', `/keeper/${bob}/${path}`))
      }
      assert.deepEqual(await stored(api, 'animal', leo), before)
      assert.deepEqual(await members(api, `/keeper/${ann}/teams`), [night])
      refused(await api.request('DELETE', `/keeper/999999/animals/${leo}`), 'E_NO_SUCH_RECORD', { model: 'keeper' })
      refused(await api.request('DELETE', `/keeper/${ann}/animals`), 'E_BAD_REQUEST')
      refused(await api.request('DELETE', `/keeper/${ann}/animals/abc`), 'E_BAD_REQUEST')
    },
  },
  {
    name: 'remove: refused when the child requires its parent',
    async run(api) {
      const { leo } = await createFixtures(api)
      const meal = (await create(api, 'feeding', { grams: 1, animal: leo })).id
      refused(await api.request('DELETE', `/animal/${leo}/feedings/${meal}`), 'E_CONFLICT', {
        model: 'feeding',
        attribute: 'animal',
      })
      refused(await api.request('PUT', `/animal/${leo}/feedings`, { body: [] }), 'E_CONFLICT')
      assert.deepEqual(await members(api, `/animal/${leo}/feedings`), [meal])
    },
  },
  {
    name: 'replace: sets exactly the given members, by body and by shortcut',
    async run(api) {
      const { ann, leo, tom, night, day } = await createFixtures(api)
      for (const [association, a, b] of [
        ['animals', leo, tom],
        ['teams', night, day],
        ['favourites', leo, tom],
      ] as const) {
        const path = `/keeper/${ann}/${association}`
        const cases = [
          [() => api.request('PUT', path, { body: [a] }), [a]],
          [() => api.request('PUT', path, { body: [b, String(a), a] }), [a, b].sort((x, y) => x - y)],
          [() => api.request('PUT', path, { body: [b] }), [b]],
          [() => api.request('GET', `${path}/replace?${association}=[${a},${b}]`), [a, b].sort((x, y) => x - y)],
          [() => api.request('GET', `${path}/replace?${association}=${a}`), [a]],
          [() => api.request('PUT', path, { body: [] }), []],
        ] as const
        for (const [ask, ids] of cases) {
          assert.deepEqual(embedded(await ask(), association), ids)
          assert.deepEqual(await members(api, path), ids)
        }
      }
    },
  },
  {
    name: 'replace: a record of a `through` model that refers to no member is kept',
    async run(api) {
      const { ann } = await createFixtures(api)
      for (const code of ['A', 'B']) await create(api, 'enclosure', { code })
      const half = await create(api, 'shift', { keeper: ann, hours: 3 })
      for (const codes of [['A', 'B'], ['B'], []]) {
        assert.equal((await api.request('PUT', `/keeper/${ann}/posts`, { body: codes })).status, 200)
        const shifts = await api.request('GET', `/shift?keeper=${ann}&sort=post&populate=false`)
        assert.deepEqual(column(shifts, 'post'), [null, ...codes])
      }
      record(await api.request('PATCH', `/keeper/${ann}`, { body: { posts: [] } }))
      assert.equal((await stored(api, 'shift', half.id)).hours, 3)
    },
  },
  {
    name: 'replace: an invalid member changes nothing',
    async run(api) {
      const { ann, leo, tom, night } = await createFixtures(api)
      record(await api.request('PUT', `/keeper/${ann}/animals`, { body: [leo] }))
      record(await api.request('PUT', `/keeper/${ann}/teams`, { body: [night] }))
      invalid(await api.request('PUT', `/keeper/${ann}/animals`, { body: [tom, 999999] }), { animals: ['exists'] })
      invalid(await api.request('PUT', `/keeper/${ann}/teams`, { body: [999999] }), { teams: ['exists'] })
      for (const body of [['abc'], [null], [[leo]], [{}]] as readonly Json[]) {
        refused(await api.request('PUT', `/keeper/${ann}/animals`, { body }), 'E_BAD_REQUEST')
      }
      refused(await api.request('PUT', '/keeper/999999/animals', { body: [leo] }), 'E_NO_SUCH_RECORD', {
        model: 'keeper',
      })
      refused(await api.request('PUT', '/keeper/999999/teams', { body: [night] }), 'E_NO_SUCH_RECORD')
      refused(await api.request('GET', `/keeper/${ann}/animals/replace?animals=bad`), 'E_BAD_REQUEST')
      refused(await api.request('GET', `/keeper/${ann}/animals/replace`), 'E_BAD_REQUEST')
      assert.deepEqual(await members(api, `/keeper/${ann}/animals`), [leo])
      assert.deepEqual(await members(api, `/keeper/${ann}/teams`), [night])
    },
  },
]
