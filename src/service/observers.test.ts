import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DatabaseError, type DatabaseErrorKind } from '../storage/driver.ts'
import { backgroundError } from '../support/background-error.ts'
import { observersOf } from './observers.ts'

const failure = (kind: 'refused' | 'missing' | 'unknown', text: string) =>
  new DatabaseError({ kind } satisfies DatabaseErrorKind, new Error(text))
const dropped = () => failure('refused', 'database "shop" does not exist')

describe('failures of the database in the background', () => {
  test('those of one cause are reported three times a minute, with the number of the others', (t) => {
    let now = 0
    t.mock.method(performance, 'now', () => now)
    const reported: string[] = []
    const { onError } = observersOf({ models: {}, onError: (error) => reported.push((error as Error).message) })
    for (now = 0; now <= 62_000; now += 1000)
      for (const work of ['The change log could not be read', 'Job mail']) onError(backgroundError(work, dropped()))
    onError(backgroundError('Job mail', failure('missing', 'relation "keelson_jobs" does not exist')))
    const other = new Error('of a request')
    for (const error of [other, other]) onError(error)
    assert.deepEqual(reported, [
      'The change log could not be read: database "shop" does not exist',
      'Job mail: database "shop" does not exist',
      'The change log could not be read: database "shop" does not exist',
      'The change log could not be read: database "shop" does not exist (117 more of this cause since the last report)',
      'Job mail: database "shop" does not exist',
      'The change log could not be read: database "shop" does not exist',
      'Job mail: relation "keelson_jobs" does not exist. The next start creates or names what is missing',
      'of a request',
      'of a request',
    ])
  })

  test('the console gets an outage as one line, and what is not expected with its causes', (t) => {
    const printed = t.mock.method(console, 'error', () => {})
    const { onError } = observersOf({ models: {} })
    const unknown = backgroundError('The change log could not be read', failure('unknown', 'cache lookup failed'))
    const replaced = new DatabaseError({ kind: 'replaced' }, 'app.db was deleted')
    for (const error of [backgroundError('The change log could not be read', dropped()), replaced, unknown])
      onError(error)
    assert.deepEqual(
      printed.mock.calls.map(({ arguments: [line] }) => line),
      ['Error: The change log could not be read: database "shop" does not exist', 'Error: app.db was deleted', unknown],
    )
  })
})
