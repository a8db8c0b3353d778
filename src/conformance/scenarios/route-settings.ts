import assert from 'node:assert/strict'
import { list, record, refused } from '../expect.ts'
import type { Scenario } from '../scenario.ts'

/** Settings that move routes or turn them off. */
export const routeSettings: readonly Scenario[] = [
  {
    name: 'settings: prefix, restPrefix and pluralize change the addresses',
    settings: { prefix: '/api', restPrefix: '/v2', pluralize: true },
    async run(api) {
      const made = record(await api.request('POST', '/api/v2/readings', { body: { value: 1 } }), 201)
      for (const path of ['/api/v2/readings', '/api/readings/find']) {
        assert.deepEqual(list(await api.request('GET', path)), [made], path)
      }
      for (const path of [`/api/v2/readings/${made.id}`, `/api/readings/find/${made.id}`]) {
        assert.deepEqual(record(await api.request('GET', path)), made, path)
      }
      record(await api.request('GET', `/api/readings/update/${made.id}?value=2`))
      const elsewhere = [
        '/readings',
        '/reading',
        '/api/readings',
        '/api/v2/reading',
        '/api/reading/find',
        '/api/v2/readings/x/y',
      ]
      for (const path of elsewhere) refused(await api.request('GET', path), 'E_NO_SUCH_ROUTE')
    },
  },
  {
    name: 'settings: pluralize uses English plurals',
    settings: { pluralize: true },
    async run(api) {
      for (const path of ['/feedings', '/keepers', '/enclosures', '/orders', '/charts'])
        list(await api.request('GET', path))
      refused(await api.request('GET', '/keeper'), 'E_NO_SUCH_ROUTE')
    },
  },
  {
    name: 'settings: a prefix is matched in any letter case',
    settings: { prefix: 'Zoo/API' },
    async run(api) {
      for (const path of ['/zoo/api/reading', '/Zoo/API/reading', '/ZOO/api/READING/find'])
        list(await api.request('GET', path))
      refused(await api.request('GET', '/reading'), 'E_NO_SUCH_ROUTE')
    },
  },
  {
    name: 'settings: rest: false leaves the shortcuts',
    settings: { rest: false },
    async run(api) {
      const made = record(await api.request('GET', '/specimen/create?label=a'), 201)
      assert.deepEqual(list(await api.request('GET', '/specimen/find')), [made])
      refused(await api.request('GET', '/specimen'), 'E_NO_SUCH_ROUTE')
      refused(await api.request('GET', `/specimen/${made.id}`), 'E_NO_SUCH_ROUTE')
      refused(await api.request('POST', '/specimen', { body: { label: 'b' } }), 'E_NO_SUCH_ROUTE')
    },
  },
  {
    name: 'settings: shortcuts: false makes the shortcut words ordinary keys',
    settings: { shortcuts: false },
    async run(api) {
      record(await api.request('POST', '/enclosure', { body: { code: 'find', title: 'seek' } }), 201)
      assert.equal(record(await api.request('GET', '/enclosure/find')).title, 'seek')
      refused(await api.request('GET', '/specimen/create?label=a'), 'E_NO_SUCH_RECORD')
      refused(await api.request('GET', '/specimen/update/1?label=a'), 'E_NO_SUCH_ROUTE')
      assert.equal(record(await api.request('DELETE', '/enclosure/find')).code, 'find')
    },
  },
  {
    name: 'settings: shortcutWrites: false turns off only the shortcuts that write',
    settings: { shortcutWrites: false },
    async run(api) {
      const made = record(await api.request('POST', '/specimen', { body: { label: 'a' } }), 201)
      for (const path of ['create?label=b', `update/${made.id}?label=b`, `destroy/${made.id}`]) {
        refused(await api.request('GET', `/specimen/${path}`), 'E_FORBIDDEN')
      }
      assert.deepEqual(list(await api.request('GET', '/specimen/find')), [made])
    },
  },
  {
    name: 'settings: unknown attributes can be ignored, in bodies only',
    settings: { unknownAttributes: 'ignore' },
    async run(api) {
      const made = record(await api.request('POST', '/specimen', { body: { label: 'a', nosuch: 1 } }), 201)
      assert.ok(!('nosuch' in made))
      record(await api.request('PATCH', `/specimen/${made.id}`, { body: { nosuch: 1 } }))
      refused(await api.request('GET', '/specimen?nosuch=1'), 'E_BAD_CRITERIA')
    },
  },
]
