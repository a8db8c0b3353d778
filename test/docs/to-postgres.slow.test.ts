import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { createService } from '../../src/index.ts'
import { folder, root } from '../support/command.ts'
import { freshDatabase, missingPostgres, postgresForTests } from '../support/postgres.ts'

const page = readFileSync(new URL('../../docs/changing-models.md', import.meta.url), 'utf8')
const [, program = ''] = /^```js to-postgres\n([\s\S]*?)^```$/m.exec(page) ?? []
const hook = new URL('import-keelson.ts', import.meta.url).href

const configText = `
  on: { owner: { created: { name: 'welcome', run: async () => { throw new Error('a copy is no new record') } } } },
  models: {
    owner: {
      attributes: {
        name: { type: 'string', required: true },
        secret: { type: 'string', hidden: true },
        best: { model: 'pet' },
        pets: { collection: 'pet', via: 'owner' },
      },
    },
    pet: {
      attributes: {
        name: { type: 'string' },
        weight: { type: 'number' },
        big: { type: 'bigint' },
        tame: { type: 'boolean' },
        born: { type: 'datetime' },
        photo: { type: 'binary' },
        extra: { type: 'json' },
        order: { type: 'string', columnName: 'an "odd" name' },
        owner: { model: 'owner', required: true, onDestroy: 'cascade' },
        mother: { model: 'pet' },
        tags: { collection: 'tag', via: 'pets' },
      },
    },
    tag: { primaryKey: 'code', attributes: { code: { type: 'string', required: true }, pets: { collection: 'pet', via: 'tags' } } },
    thing: { attributes: { id: { type: 'string', isUUID: true } } },
  },`

test('the program that moves a database to postgres copies every row', { skip: missingPostgres ?? false }, async () => {
  const server = await postgresForTests()
  await using database = await freshDatabase(server.url)
  const cwd = folder({
    'package.json': '{ "type": "module" }',
    'keelson.config.ts': `export default { ${configText} }\n`,
    'to-postgres.mjs': program,
  })
  symlinkSync(join(root, 'node_modules'), join(cwd, 'node_modules'))
  const { default: config } = await import(join(cwd, 'keelson.config.ts'))
  const file = join(cwd, 'app.db')

  const everything = { populate: { owner: true, mother: true, tags: true }, limit: 1000, sort: 'id' } as never
  const contentOf = async (
    url: string,
    more?: (service: Awaited<ReturnType<typeof createService>>) => Promise<void>,
  ) => {
    await using service = await createService({ ...config, database: url, runJobs: false } as never)
    const records = service.system.records as Record<string, { find(options: object): Promise<{ data: unknown }> }>
    await more?.(service)
    return JSON.stringify([
      (await records.pet?.find(everything))?.data,
      (await records.owner?.find({ populate: ['best'], sort: 'id' }))?.data,
      (await records.thing?.find({ sort: 'id' }))?.data,
    ])
  }
  const before = await contentOf(`sqlite:${file}`, async (service) => {
    const { owner, pet, tag, thing } = service.system.records as never as Record<
      string,
      Record<string, (...args: unknown[]) => Promise<{ id: number }>>
    >
    const ann = await owner?.create?.({ name: 'Ann', secret: 'hash' })
    await owner?.create?.({ name: '' + 'Bób "x" \\ {a,b}', secret: '' })
    for (const code of ['red', 'b,"lue']) await tag?.create?.({ code })
    const rex = await pet?.create?.({
      name: '',
      weight: 3.25,
      big: '9007199254740993',
      tame: true,
      born: '2020-01-02T03:04:05.678Z',
      photo: 'AAEC/w==',
      extra: { a: [1, null, 'é'] },
      order: 'NULL',
      owner: ann?.id,
      tags: ['red', 'b,"lue'],
    })
    await pet?.createMany?.(
      Array.from({ length: 1500 }, (_, index) => ({
        name: `pet ${index}`,
        owner: ann?.id,
        mother: rex?.id,
        extra: index % 2 ? 'text' : null,
      })),
    )
    await owner?.update?.(ann?.id, { best: rex?.id })
    await thing?.create?.({})
  })

  const command = ['--import', hook, 'to-postgres.mjs', file, database.url]
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd })
  assert.deepEqual(stdout.trim().split('\n').sort(), [
    'owner 2',
    'pet 1501',
    'pet_tags__tag_pets 2',
    'tag 2',
    'thing 1',
  ])
  assert.equal(await contentOf(database.url), before)
  assert.deepEqual(await database.query('select secret from owner order by id'), [['hash'], ['']])
  assert.deepEqual(await database.query('select count(*) from keelson_log'), [['0']], 'nothing for events and jobs')

  await using service = await createService({ ...config, on: {}, database: database.url } as never)
  const { pet } = service.system.records as never as {
    pet: Record<string, (...args: unknown[]) => Promise<{ id: number }>>
  }
  assert.equal((await pet.create?.({ name: 'new', owner: 1 }))?.id, 1502)
  assert.deepEqual(await database.query('select count(*) from keelson_log'), [['1']], 'changes are captured again')
  await assert.rejects(database.query('insert into pet (owner) values (99)'), /violates foreign key|null value/)
})
