import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { AnyConfig } from '../config/config.ts'
import { type OpenService, openService } from '../open-service.ts'
import type { Seeding } from './seed.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-seed-'))
after(() => rmSync(folder, { recursive: true }))

const models = { pet: { attributes: { name: { type: 'string' } } } } as const
type Models = typeof models

/** Opens, seeds and closes; answers whether the seed ran, and which names there are. */
async function run(database: string, config: Partial<AnyConfig> = {}): Promise<readonly [boolean, readonly unknown[]]> {
  await using service = await openService({ models, database, seed, ...config })
  return [await service.seed(), await namesOf(service)]
}

const namesOf = async (service: OpenService) =>
  (await service.records.get('pet')?.find())?.data.map(({ name }) => name) ?? []

const seed = async ({ system }: Seeding<Models>) => void (await system.records.pet.create({ name: 'Rex' }))

let count = 0
const newFile = () => `sqlite:${folder}/${++count}.db`

describe('a seed', () => {
  for (const database of ['memory:', 'sqlite::memory:']) {
    test(`fills what is new: ${database}`, async () => assert.deepEqual(await run(database), [true, ['Rex']]))
  }

  test('runs once', async () => {
    const file = newFile()
    assert.deepEqual(await run(file), [true, ['Rex']])
    assert.deepEqual(await run(file), [false, ['Rex']])
  })

  test('stays away from records that are not its own', async () => {
    const file = newFile()
    await using service = await openService({ models, database: file })
    assert.equal(await service.seed(), false)
    await service.records.get('pet')?.create({ name: 'Kim' })
    assert.deepEqual(await run(file), [false, ['Kim']])
  })

  test('is owed until it has come to its end', async () => {
    const file = newFile()
    const breaks = async (seeding: Seeding<Models>) => {
      await seed(seeding)
      throw new Error('in the middle')
    }
    await assert.rejects(run(file, { seed: breaks }), /in the middle/)
    assert.deepEqual(await run(file), [true, ['Rex', 'Rex']])
    assert.deepEqual(await run(file), [false, ['Rex', 'Rex']])
  })

  test('comes again when every table is made anew, and never where nothing may be touched', async () => {
    const file = newFile()
    await run(file)
    assert.deepEqual(await run(file, { migrate: 'drop' }), [true, ['Rex']])
    const empty = newFile()
    await (await openService({ models, database: empty }))[Symbol.asyncDispose]()
    assert.deepEqual(await run(empty, { migrate: 'safe' }), [false, []])
  })

  test('tells how far it is', async () => {
    await using service = await openService({
      models,
      database: 'memory:',
      seed: async (_: Seeding<Models>, progress: (done: number, total: number) => void) => progress(1, 2),
    })
    const told: number[][] = []
    await service.seed((done, total) => told.push([done, total]))
    assert.deepEqual(told, [[1, 2]])
  })
})
