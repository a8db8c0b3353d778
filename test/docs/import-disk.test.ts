import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { createService } from '../../src/index.ts'
import { folder } from '../support/command.ts'

const page = readFileSync(new URL('../../docs/coming-from-sails.md', import.meta.url), 'utf8')
const [, program = ''] = /^```js\n(\/\/ import-disk\.mjs\n[\s\S]*?)^```$/m.exec(page) ?? []

const time = '2020-01-02T03:04:05.123Z'
const row = (values: object): string => JSON.stringify(values)
const date = { $$date: Date.parse(time) }

test('the program that moves the files of sails-disk keeps every value', async () => {
  const cwd = folder({
    'package.json': '{ "type": "module" }',
    'import-disk.mjs': program,
    'data/.gitkeep': '',
    '.tmp/localDiskDb/archive.db': `${row({ _id: 1, fromModel: 'pet' })}\n`,
    '.tmp/localDiskDb/owner.db': `${row({ name: 'Ann', id: 7, _id: 7 })}\n`,
    '.tmp/localDiskDb/pet.db': [
      row({ $$indexCreated: { fieldName: 'name', unique: true, sparse: false } }),
      row({ name: 'old', id: 1, _id: 1 }),
      row({ name: 'Rex', born: date, tame: true, extra: { a: [1, 'é'] }, owner: 7, id: 1, _id: 1 }),
      row({ name: 'gone', id: 2, _id: 2 }),
      row({ $$deleted: true, _id: 2 }),
      row({ name: '5', born: null, tame: false, extra: '5', owner: null, id: 3, _id: 3 }),
      row({ name: '', extra: '', id: 4, _id: 4 }),
      row({ name: 'Tom', extra: true, id: 5, _id: 5 }),
      '',
    ].join('\n'),
  })
  const open = () =>
    createService({
      database: `sqlite:${join(cwd, 'data', 'app.db')}`,
      compatibility: 'sails',
      attributes: { createdAt: false, updatedAt: false },
      models: {
        owner: { attributes: { name: 'string' } },
        pet: {
          attributes: {
            name: 'string',
            born: { type: 'ref', columnType: 'datetime' },
            tame: 'boolean',
            extra: 'json',
            owner: { model: 'owner' },
          },
        },
      },
    } as never)
  await (await open()).close()
  await promisify(execFile)(process.execPath, ['import-disk.mjs'], { cwd })
  await using service = await open()
  const { pet } = service.system.records as never as { pet: { find(options: object): Promise<{ data: unknown }> } }
  assert.deepEqual((await pet.find({ populate: false })).data, [
    { id: 1, name: 'Rex', born: time, tame: true, extra: { a: [1, 'é'] }, owner: 7 },
    { id: 3, name: '5', born: null, tame: false, extra: '5', owner: null },
    { id: 4, name: '', born: null, tame: null, extra: '', owner: null },
    { id: 5, name: 'Tom', born: null, tame: null, extra: true, owner: null },
  ])
})
