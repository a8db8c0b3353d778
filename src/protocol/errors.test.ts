import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problem, refuse, ServiceError } from './errors.ts'

test('a refusal of the application has its status, code and details', () => {
  const error = refuse(409, 'OUT_OF_STOCK', 'Only 3 are left', { left: 3 })
  assert.ok(error instanceof ServiceError)
  assert.deepEqual(problem(error), {
    type: 'about:blank',
    title: 'Refused',
    status: 409,
    code: 'OUT_OF_STOCK',
    detail: 'Only 3 are left',
    details: { left: 3 },
  })
})

test('a code that objects inherit is a code like any other', () => {
  const document = problem(refuse(422, 'constructor', 'no'))
  assert.equal(document.status, 422)
  assert.equal(document.title, 'Refused')
})

for (const [why, status, code] of [
  ['a status that is not an error of the client', 500, 'X'],
  ['a status of success', 200, 'X'],
  ['a fraction', 400.5, 'X'],
  ['a code of this service', 409, 'E_CONFLICT'],
  ['a code that is not a word', 409, 'out of stock'],
  ['an empty code', 409, ''],
] as const) {
  test(`refuse does not accept ${why}`, () => {
    assert.throws(() => refuse(status, code, 'no'), TypeError)
  })
}

for (const code of ['OUT_OF_STOCK', 'E_OUT_OF_STOCK', 'constructor', undefined as never]) {
  test(`an error with the code ${code} and no status is none: it would be answered as a success`, () => {
    assert.throws(
      () => new ServiceError(code, 'Only 3 are left'),
      /there is no code .*; refuse\(status, code, message\)/,
    )
  })
}
