import assert from 'node:assert/strict'
import { create, list, record, refused, stored } from '../expect.ts'
import type { Answer, Scenario } from '../scenario.ts'

/** The argument of the callback. */
function argumentOf(answer: Answer, name: string): unknown {
  assert.match(answer.header('content-type') ?? '', /^text\/javascript; charset=utf-8$/)
  const before = `/**/ typeof ${name} === 'function' && ${name}(`
  assert.ok(answer.text.startsWith(before) && answer.text.endsWith(');'), answer.text)
  return JSON.parse(answer.text.slice(before.length, -2))
}

/** JSONP: with `callback` the answer is a script. */
export const jsonp: readonly Scenario[] = [
  {
    name: 'jsonp: every operation answers a script with its own status',
    needs: ['http'],
    async run(api) {
      const made = await create(api, 'specimen', { label: 'a' })
      const one = await api.request('GET', `/specimen/${made.id}?callback=cb`)
      assert.deepEqual([one.status, argumentOf(one, 'cb')], [200, made])
      assert.deepEqual(argumentOf(await api.request('GET', '/specimen?callback=my.fn[0].$_x'), 'my.fn[0].$_x'), [made])
      const put = await api.request('PUT', `/specimen/${made.id}?callback=cb`, { body: { label: 'b' } })
      assert.equal((argumentOf(put, 'cb') as { label?: unknown }).label, 'b')
      const created = await api.request('GET', '/specimen/create?label=c&callback=cb')
      assert.deepEqual([created.status, (argumentOf(created, 'cb') as { label?: unknown }).label], [201, 'c'])
      const gone = await api.request('DELETE', `/specimen/${made.id}?callback=cb`)
      assert.equal((argumentOf(gone, 'cb') as { id?: unknown }).id, made.id)
    },
  },
  {
    name: 'jsonp: errors are answered as scripts',
    needs: ['http'],
    async run(api) {
      const missing = await api.request('GET', '/specimen/999999?callback=cb')
      assert.deepEqual(
        [missing.status, (argumentOf(missing, 'cb') as { code?: unknown }).code],
        [404, 'E_NO_SUCH_RECORD'],
      )
      const wrong = await api.request('GET', '/keeper/create?callback=cb')
      const problem = argumentOf(wrong, 'cb') as { invalidAttributes?: object }
      assert.deepEqual([wrong.status, Object.keys(problem.invalidAttributes ?? {})], [400, ['name']])
    },
  },
  {
    name: 'jsonp: callback in a body, unless the record has an attribute of that name',
    needs: ['http'],
    async run(api) {
      const { id } = await create(api, 'specimen', { label: 'a' })
      const answer = await api.request('PATCH', `/specimen/${id}`, { body: { legs: 3, callback: 'cb' } })
      assert.equal((argumentOf(answer, 'cb') as { legs?: unknown }).legs, 3)
      const destroyed = await api.request('DELETE', '/specimen', { body: { id: id as number, callback: 'cb' } })
      assert.equal((argumentOf(destroyed, 'cb') as { id?: unknown }).id, id)
      for (const callback of ['alert(1)', 5, {}, 'x'.repeat(101)] as const) {
        refused(await api.request('POST', '/specimen', { body: { label: 'b', callback } }), 'E_BAD_REQUEST')
      }
      assert.equal(record(await api.request('POST', '/specimen', { body: { callback: '' } }), 201).label, null)
    },
  },
  {
    name: 'jsonp: an invalid function name is refused and not repeated in the answer',
    needs: ['http'],
    async run(api) {
      const names = [
        'alert(1)',
        '<script>',
        'a;b',
        'a b',
        'a-b',
        '1a',
        'a.',
        '.a',
        'a..b',
        'a[b]',
        'a["b"]',
        'a[0',
        'é',
        'a\u2028',
        'a\n',
        '%00',
        'CWS\x07',
        'x'.repeat(101),
      ]
      for (const name of names) {
        const answer = await api.request('GET', `/specimen?callback=${encodeURIComponent(name)}`)
        refused(answer, 'E_BAD_REQUEST')
        assert.ok(!answer.text.includes(name))
      }
    },
  },
  {
    name: 'jsonp: line separators and script end tags are escaped',
    needs: ['bytes'],
    async run(api) {
      const { id } = await create(api, 'specimen', { label: 'a\u2028b\u2029c</script>' })
      const answer = await api.request('GET', `/specimen/${id}?callback=cb`)
      assert.doesNotMatch(answer.text, /[\u2028\u2029]/)
      assert.equal((argumentOf(answer, 'cb') as { label?: unknown }).label, 'a\u2028b\u2029c</script>')
      assert.equal(answer.header('x-content-type-options'), 'nosniff')
    },
  },
  {
    name: 'jsonp: an empty callback is ignored, and callback is not an attribute',
    async run(api) {
      const made = await create(api, 'specimen', { label: 'a' })
      assert.deepEqual(list(await api.request('GET', '/specimen?callback=')), [made])
    },
  },
  {
    name: 'jsonp: a script on a page of another site cannot write',
    needs: ['http'],
    async run(api) {
      const made = await create(api, 'specimen', { label: 'a' })
      const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'script' }
      for (const path of [`update/${made.id}?label=b`, `destroy/${made.id}?x=`, 'create?label=c']) {
        const answer = await api.request('GET', `/specimen/${path}&callback=cb`, { headers })
        assert.deepEqual([answer.status, (argumentOf(answer, 'cb') as { code?: unknown }).code], [403, 'E_FORBIDDEN'])
      }
      assert.deepEqual(await stored(api, 'specimen', made.id), made)
    },
  },
  {
    name: 'jsonp: where it is turned off, callback is ignored',
    settings: { jsonp: false },
    async run(api) {
      const made = await create(api, 'specimen', { label: 'a' })
      assert.deepEqual(list(await api.request('GET', '/specimen?callback=cb')), [made])
    },
  },
]
