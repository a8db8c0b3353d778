import assert from 'node:assert/strict'
import { column, create, list, record, refused } from '../expect.ts'
import type { Scenario } from '../scenario.ts'

const words = (header: string | undefined): readonly string[] => (header ?? '').split(', ').sort()

/** Routes and methods. */
export const routes: readonly Scenario[] = [
  {
    name: 'routes: a list has a REST route and a shortcut',
    async run(api) {
      await create(api, 'specimen', { label: 'a' })
      await create(api, 'specimen', { label: 'b' })
      const rest = await api.request('GET', '/specimen')
      const shortcut = await api.request('GET', '/specimen/find')
      assert.deepEqual(column(rest, 'label'), ['a', 'b'])
      assert.equal(shortcut.text, rest.text)
    },
  },
  {
    name: 'routes: a record has a REST route and a shortcut',
    async run(api) {
      const made = await create(api, 'specimen', { label: 'a' })
      assert.deepEqual(record(await api.request('GET', `/specimen/${made.id}`)), made)
      assert.deepEqual(record(await api.request('GET', `/specimen/find/${made.id}`)), made)
    },
  },
  {
    name: 'routes: each write has a REST route and a shortcut with the same answer',
    async run(api) {
      const byRest = record(await api.request('POST', '/specimen', { body: { label: 'a', legs: 2 } }), 201)
      const byGet = record(await api.request('GET', '/specimen/create?label=a&legs=2'), 201)
      const without = (made: object) => ({ ...made, id: 0, createdAt: '', updatedAt: '' })
      assert.deepEqual(without(byGet), without(byRest))

      for (const made of [byRest, byGet]) {
        const updated = record(await api.request('GET', `/specimen/update/${made.id}?legs=3`))
        assert.deepEqual({ ...updated, updatedAt: '' }, { ...made, legs: 3, updatedAt: '' })
        assert.deepEqual(record(await api.request('GET', `/specimen/destroy/${made.id}`)), updated)
        refused(await api.request('GET', `/specimen/${made.id}`), 'E_NO_SUCH_RECORD', { model: 'specimen' })
      }
    },
  },
  {
    name: 'routes: the answer to a GET that writes is not cacheable',
    needs: ['http'],
    async run(api) {
      const answer = await api.request('GET', '/specimen/create?label=a')
      assert.equal(answer.header('cache-control'), 'no-store')
      assert.equal((await api.request('GET', '/specimen')).header('cache-control'), undefined)
    },
  },
  {
    name: 'routes: letter case and one trailing slash are ignored',
    async run(api) {
      const { id } = await create(api, 'specimen', { label: 'a' })
      for (const path of ['/SPECIMEN', '/Specimen/', '/specimen/FIND', '/Specimen/Find/', '/specimen/?limit=5']) {
        assert.deepEqual(column(await api.request('GET', path), 'label'), ['a'], path)
      }
      for (const path of [`/Specimen/${id}/`, `/specimen/FIND/${id}`]) {
        assert.equal(record(await api.request('GET', path)).label, 'a', path)
      }
    },
  },
  {
    name: 'routes: 404 for an unknown address',
    async run(api) {
      const { id } = await create(api, 'specimen', { label: 'a' })
      const paths = [
        '/nosuch',
        '/nosuch/1',
        '/specimens',
        '/specimen//',
        '//specimen',
        `/specimen//${id}`,
        `/specimen/${id}/nosuch`,
        `/specimen/${id}/label`,
        '/specimen/find/1/2/3/4',
        // Junction tables are not models.
        '/keeper_teams__team_members',
        '/venue',
        '/zoo%20%22enclosures%22',
        '/group',
        '/keelson_log',
      ]
      for (const path of paths) refused(await api.request('GET', path), 'E_NO_SUCH_ROUTE')
    },
  },
  {
    name: 'routes: names of JavaScript properties are neither models nor route words',
    async run(api) {
      for (const path of [
        '/__proto__',
        '/constructor',
        '/prototype',
        '/toString',
        '/hasOwnProperty/1',
        '/__proto__/find',
      ]) {
        refused(await api.request('GET', path), 'E_NO_SUCH_ROUTE')
      }
      refused(await api.request('GET', '/specimen/__proto__'), 'E_NO_SUCH_RECORD')
      refused(await api.request('GET', '/specimen/constructor'), 'E_NO_SUCH_RECORD')
      refused(await api.request('GET', '/enclosure/__proto__'), 'E_NO_SUCH_RECORD')
    },
  },
  {
    name: 'routes: 405 lists the allowed methods',
    needs: ['http'],
    async run(api) {
      const cases = [
        ['PATCH', '/specimen/find', ['GET', 'HEAD', 'OPTIONS']],
        ['POST', '/specimen/find/1', ['GET', 'HEAD', 'OPTIONS']],
        ['PUT', '/specimen/update/1', ['GET', 'OPTIONS']],
        ['POST', '/specimen/destroy/1', ['GET', 'OPTIONS']],
        ['DELETE', '/specimen/create', ['GET', 'OPTIONS']],
        ['PROPFIND', '/specimen', ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']],
        ['PROPFIND', '/specimen/1', ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']],
      ] as const
      for (const [method, path, allow] of cases) {
        const answer = await api.request(method, path)
        refused(answer, 'E_METHOD_NOT_ALLOWED')
        assert.deepEqual(words(answer.header('allow')), allow, path)
      }
    },
  },
  {
    name: 'routes: OPTIONS lists the allowed methods',
    async run(api) {
      const cases = [
        ['/specimen', ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']],
        ['/specimen/1', ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']],
        ['/specimen/find', ['GET', 'HEAD', 'OPTIONS']],
        ['/specimen/create', ['GET', 'OPTIONS']],
        ['/keeper/1/animals', ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT']],
        // A to-one association has no members to add or remove.
        ['/animal/1/keeper', ['GET', 'HEAD', 'OPTIONS']],
        ['/animal/1/keeper/2', ['GET', 'HEAD', 'OPTIONS']],
      ] as const
      for (const [path, allow] of cases) {
        const answer = await api.request('OPTIONS', path)
        assert.equal(answer.status, 204, path)
        assert.equal(answer.text, '')
        assert.deepEqual(words(answer.header('allow')), allow, path)
      }
      refused(await api.request('OPTIONS', '/nosuch'), 'E_NO_SUCH_ROUTE')
    },
  },
  {
    name: 'routes: HEAD answers like GET, without a body',
    needs: ['bytes'],
    async run(api) {
      const { id } = await create(api, 'specimen', { label: 'a' })
      for (const path of [
        '/specimen',
        '/specimen/find',
        `/specimen/${id}`,
        '/specimen/999999',
        '/nosuch',
        '/specimen?nosuch=1',
      ]) {
        const [head, get] = [await api.request('HEAD', path), await api.request('GET', path)]
        assert.equal(head.status, get.status, path)
        assert.equal(head.text, '', path)
        for (const name of ['content-type', 'content-length']) assert.equal(head.header(name), get.header(name), path)
      }
    },
  },
  {
    name: 'routes: HEAD never writes',
    async run(api) {
      const { id } = await create(api, 'specimen', { label: 'a' })
      for (const path of ['/specimen/create?label=b', `/specimen/update/${id}?label=b`, `/specimen/destroy/${id}`]) {
        assert.equal((await api.request('HEAD', path)).status, 405, path)
      }
      assert.deepEqual(column(await api.request('GET', '/specimen'), 'label'), ['a'])
    },
  },
  {
    name: 'routes: no header or parameter overrides the method',
    async run(api) {
      const { id } = await create(api, 'specimen', { label: 'a' })
      const headers = { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' }
      record(await api.request('POST', `/specimen/${id}`, { headers, body: { legs: 4 } }))
      refused(await api.request('POST', `/specimen/${id}?_method=DELETE`), 'E_INVALID_ATTRIBUTES')
      assert.equal(list(await api.request('GET', '/specimen')).length, 1)
    },
  },
  {
    name: 'routes: the accepted notations of a numeric key',
    async run(api) {
      const { id } = await create(api, 'specimen', { label: 'a' })
      for (const spelling of [`0${id}`, `${id}.0`, `${id}e0`, `%2B${id}`]) {
        assert.equal(record(await api.request('GET', `/specimen/${spelling}`)).id, id, spelling)
      }
      for (const spelling of ['0', '-1', '9007199254740991']) {
        refused(await api.request('GET', `/specimen/${spelling}`), 'E_NO_SUCH_RECORD', { model: 'specimen' })
      }
      // Text that is no key of the model: no record has it.
      for (const spelling of [
        'abc',
        `${id}%20`,
        `${id},2`,
        '1.5',
        'null',
        '9007199254740993',
        'Infinity',
        'NaN',
        '%00',
      ]) {
        refused(await api.request('GET', `/specimen/${spelling}`), 'E_NO_SUCH_RECORD', { model: 'specimen' })
      }
    },
  },
  {
    name: 'routes: a string key may contain any character',
    async run(api) {
      for (const code of [
        'A 1',
        'a/b',
        '50%',
        'é',
        'e\u0301',
        '日本',
        '🦁',
        '?x=1&y',
        '#',
        "'; drop",
        '+',
        'null',
        '0',
        '"',
      ]) {
        const made = await create(api, 'enclosure', { code })
        assert.equal(made.code, code)
        const path = `/enclosure/${encodeURIComponent(code)}`
        assert.equal(record(await api.request('GET', path)).code, code)
        assert.equal(record(await api.request('PATCH', path, { body: { title: 't' } })).title, 't')
        assert.equal(record(await api.request('DELETE', path)).code, code)
        refused(await api.request('GET', path), 'E_NO_SUCH_RECORD')
      }
    },
  },
  {
    name: 'routes: an address that is not percent-encoded UTF-8 is refused',
    async run(api) {
      for (const path of [
        '/enclosure/%',
        '/enclosure/%ff',
        '/enclosure/%ed%a0%80',
        '/specimen?label=%e4',
        '/specimen?%=1',
      ]) {
        refused(await api.request('GET', path), 'E_BAD_REQUEST')
      }
    },
  },
]
