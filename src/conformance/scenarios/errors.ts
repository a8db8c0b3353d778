import assert from 'node:assert/strict'
import { create, refused } from '../expect.ts'
import type { Given, Scenario } from '../scenario.ts'

interface Case {
  readonly asked: readonly [method: string, path: string, given?: Given]
  readonly answered: Readonly<Record<string, unknown>>
}

const about = (status: number, code: string, title: string) => ({ type: 'about:blank', title, status, code })

/** Complete problem documents. The text of `detail` is not part of the interface. */
const cases: readonly Case[] = [
  {
    asked: ['POST', '/keeper', { body: { name: 'a', age: 1, email: 'x' } }],
    answered: {
      ...about(400, 'E_INVALID_ATTRIBUTES', 'Invalid attributes'),
      model: 'keeper',
      invalidAttributes: {
        name: [{ rule: 'minLength', message: 'must have at least 2 characters' }],
        email: [{ rule: 'isEmail', message: 'must be an email address' }],
        age: [{ rule: 'min', message: 'must be at least 16' }],
      },
      attrNames: ['name', 'email', 'age'],
    },
  },
  {
    asked: ['GET', '/keeper/create?name='],
    answered: {
      ...about(400, 'E_INVALID_ATTRIBUTES', 'Invalid attributes'),
      model: 'keeper',
      invalidAttributes: { name: [{ rule: 'required', message: 'must not be empty' }] },
      attrNames: ['name'],
    },
  },
  {
    asked: ['GET', '/keeper?nosuch=1'],
    answered: { ...about(400, 'E_BAD_CRITERIA', 'Invalid criteria'), attribute: 'nosuch' },
  },
  {
    asked: ['GET', '/keeper?limit=1001'],
    answered: { ...about(400, 'E_BAD_CRITERIA', 'Invalid criteria'), limit: 'maxLimit' },
  },
  {
    asked: ['PATCH', '/keeper'],
    answered: { ...about(400, 'E_BAD_REQUEST', 'Bad request'), model: 'keeper' },
  },
  {
    asked: ['GET', '/keeper/999999'],
    answered: { ...about(404, 'E_NO_SUCH_RECORD', 'Record not found'), model: 'keeper' },
  },
  {
    asked: ['GET', '/nosuch'],
    answered: about(404, 'E_NO_SUCH_ROUTE', 'Route not found'),
  },
  {
    asked: ['PROPFIND', '/keeper'],
    answered: about(405, 'E_METHOD_NOT_ALLOWED', 'Method not allowed'),
  },
]

/** Errors: one form of problem document. */
export const errors: readonly Scenario[] = [
  {
    name: 'errors: the complete document for each error code',
    needs: ['http'],
    async run(api) {
      for (const { asked, answered } of cases) {
        const answer = await api.request(...asked)
        const { detail, ...rest } = refused(answer, answered.code as never)
        assert.deepEqual(rest, answered)
        assert.ok(typeof detail === 'string' && /^[^\n]{3,}$/.test(detail), 'detail is a single line')
      }
    },
  },
  {
    name: 'errors: the same document for a shortcut, for HEAD and for Accept: text/html',
    async run(api) {
      const asked = [
        await api.request('GET', '/keeper/999999'),
        await api.request('GET', '/keeper/find/999999'),
        await api.request('GET', '/keeper/999999', { headers: { accept: 'text/html' } }),
      ]
      for (const answer of asked) {
        refused(answer, 'E_NO_SUCH_RECORD', { model: 'keeper' })
        assert.equal(answer.text, asked[0]?.text)
      }
    },
  },
  {
    name: 'errors: a missing record gets the same answer from every operation',
    async run(api) {
      const asked = [
        ['GET', '/keeper/999999'],
        ['PATCH', '/keeper/999999'],
        ['DELETE', '/keeper/999999'],
        ['GET', '/keeper/update/999999'],
        ['GET', '/keeper/destroy/999999'],
        ['GET', '/keeper/999999/animals'],
        ['PUT', '/keeper/999999/animals'],
      ] as const
      const texts = new Set<string>()
      for (const [method, path] of asked) {
        const body = method === 'PUT' ? { body: [] } : {}
        const answer = await api.request(method, path, body)
        refused(answer, 'E_NO_SUCH_RECORD', { model: 'keeper' })
        texts.add(answer.text)
      }
      assert.equal(texts.size, 1)
    },
  },
  {
    name: 'errors: no internal details are revealed',
    async run(api) {
      await create(api, 'keeper', { name: 'Ann', email: 'ann@zoo.test' })
      const asked: readonly (readonly [string, string, Given?])[] = [
        ['POST', '/keeper', { body: { name: 'Bob', email: 'ann@zoo.test' } }],
        ['POST', '/animal', { body: { name: 'Leo', keeper: 999999 } }],
        ['GET', '/keeper?where={'],
        ['GET', '/keeper?sort=nosuch'],
        ['GET', '/enclosure?where={"title":{"gt":1}}'],
        ['POST', '/enclosure', { body: { code: 'x'.repeat(41) } }],
      ]
      for (const [method, path, given] of asked) {
        const { status, text } = await api.request(method, path, given)
        assert.equal(status, 400)
        assert.doesNotMatch(
          text,
          /sqlite|postgres|constraint|select |insert |node:|\.ts\b|\.js\b|zoo \\?"enclosures|stack/i,
        )
      }
    },
  },
  {
    name: 'errors: a message repeats only a short part of what was sent',
    async run(api) {
      const long = 'x'.repeat(5000)
      const asked: readonly (readonly [string, string, Given?])[] = [
        ['GET', `/keeper?${long}=1`],
        ['GET', `/keeper?sort=${long}`],
        ['GET', `/keeper?select=${long}`],
        ['GET', `/keeper?where={"name":{"${long}":1}}`],
        ['GET', `/keeper?populate=${long}`],
        ['GET', `/keeper/${long}`],
        ['POST', '/keeper', { body: { name: long } }],
      ]
      for (const [method, path, given] of asked) {
        const { status, text } = await api.request(method, path, given)
        assert.ok(status === 400 || status === 404)
        assert.ok(text.length < 1000, text.slice(0, 200))
      }
    },
  },
]
