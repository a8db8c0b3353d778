import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { FindTemplate } from '../../src/operation/find-shapes.ts'
import { Random } from '../support/random.ts'
import { newFile } from '../support/sqlite.ts'
import { openPair, requests } from './shapes/compare.ts'

const shapes = 200

test('requests of a shape that is kept are answered as those that are parsed, also with errors', async () => {
  await using pair = await openPair(`sqlite:${newFile()}`)
  const random = new Random(Number(process.env.KEELSON_TEST_SEED ?? 1))
  const { mock: fills } = mock.method(FindTemplate.prototype, 'fill')
  let answered = 0
  for (let shape = 0; shape < shapes; shape++)
    for (const request of requests(random)) if ((await pair.compare(request)) === 200) answered++
  const filled = fills.calls.filter(({ result }) => result !== undefined).length
  assert.ok(filled > shapes, `${filled} requests were filled`)
  assert.ok(answered > 2 * shapes, `${answered} requests were answered`)
})
