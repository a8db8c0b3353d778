import { describe, test } from 'node:test'
import { databases } from '../support/databases.ts'
import { Random } from '../support/random.ts'
import { openPair, requests } from './shapes/compare.ts'

/** `KEELSON_SHAPES=20000` searches longer. */
const shapes = Number(process.env.KEELSON_SHAPES ?? 500)

describe('requests of a shape that is kept are answered as those that are parsed', () => {
  for (const { name, missing, open } of databases) {
    if (name === 'memory') continue
    test(name, { skip: missing ?? false }, async () => {
      await using database = await open()
      await using pair = await openPair(database.url)
      const random = new Random(Number(process.env.KEELSON_TEST_SEED ?? Date.now()))
      for (let shape = 0; shape < shapes; shape++) for (const request of requests(random)) await pair.compare(request)
    })
  }
})
