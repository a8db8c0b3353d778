import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { createService } from 'keelson'
import { newFile } from '../../../../test/support/sqlite.ts'
import { ReaderPool } from '../client/reader-pool.ts'

const models = {
  bucket: { attributes: { items: { collection: 'item', via: 'bucket' } } },
  item: { attributes: { name: { type: 'string' }, bucket: { model: 'bucket' } } },
} as const

const items = (from: number, to: number, bucket: string) =>
  `insert into item (id, bucket) with recursive n (i) as (select ${from} union all select i + 1 from n where i < ${to}) select i, ${bucket} from n`

const attributes = { createdAt: false, updatedAt: false } as const
const buckets =
  'insert into bucket (id) with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000) select i from n'
const few = items(1, 20, '1')
const many = items(21, 20_000, '1 + i % 1000')
const warning =
  'SQLite has statistics of "item" from when it had less than a tenth of its rows, and queries may take a hundred times as long as without them: analyze "item"'

describe('statistics that another program has made of a table', () => {
  for (const { title, statements, migrate, warnings, statistics } of [
    {
      title: 'that has grown since are made anew',
      statements: [few, 'analyze', many],
      warnings: [],
      statistics: 20_000,
    },
    {
      title: 'that has grown since are a warning where nothing is changed',
      statements: [few, 'analyze', many],
      migrate: 'safe',
      warnings: [warning],
      statistics: 20,
    },
    { title: 'are left alone', statements: [few, many, 'analyze'], warnings: [], statistics: 20_000 },
    {
      title: 'that has not grown by much are left alone',
      statements: [few, 'analyze', items(21, 900, '1')],
      warnings: [],
      statistics: 20,
    },
    {
      title: 'that has fewer rows now are left alone',
      statements: [few, many, 'analyze', 'delete from item where id > 20'],
      warnings: [],
      statistics: 20_000,
    },
    { title: 'are not made where there were none', statements: [few, many], warnings: [], statistics: undefined },
  ] as const)
    test(title, async () => {
      const file = newFile()
      const options = { database: `sqlite:${file}`, attributes, models } as const
      await (await createService(options)).close()
      const database = new DatabaseSync(file)
      for (const statement of [buckets, ...statements]) database.exec(statement)
      const service = await createService({ ...options, ...(migrate && { migrate }) })
      assert.deepEqual(service.warnings, warnings)
      await service.close()
      const made = database.prepare(`select 1 from sqlite_schema where name = 'sqlite_stat1'`).get() !== undefined
      const known = made
        ? database.prepare(`select max(cast(stat as integer)) as count from sqlite_stat1 where tbl = 'item'`).get()
            ?.count
        : undefined
      assert.equal(known, statistics)
      database.close()
    })

  test('that has grown are read anew by the connection that serves', async (t) => {
    const file = newFile()
    const options = { database: `sqlite:${file}`, attributes, models } as const
    await (await createService(options)).close()
    const database = new DatabaseSync(file)
    database.exec(`${buckets}; ${few}; analyze; ${many}`)
    database.close()
    const service = await createService(options)
    const scan = t.mock.method(ReaderPool.prototype, 'read')
    const page = await service.system.records.bucket.find({ limit: 30, populate: ['items'] })
    assert.equal(page.data.length, 30)
    assert.equal(scan.mock.callCount(), 0)
    await service.close()
  })
})
