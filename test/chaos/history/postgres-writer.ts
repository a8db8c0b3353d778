import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import type { ForeignWriter } from './foreign-writer.ts'
import { modelNames, pairs } from './models.ts'
import { fenced, type Row, selects, truthIn } from './tables.ts'

export async function postgresWriter(url: string): Promise<ForeignWriter> {
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  pool.on('error', () => {}) // the query that uses it rejects
  let fences = 0
  const numbered = (text: string) => {
    let count = 0
    return text.replaceAll('?', () => `$${++count}`)
  }
  async function transaction(work: (client: pg.PoolClient) => Promise<'commit' | 'rollback'>): Promise<boolean> {
    const client = await pool.connect()
    try {
      await client.query('begin')
      const end = await work(client)
      await client.query(end)
      return end === 'commit'
    } catch {
      await client.query('rollback')
      return false
    } finally {
      client.release()
    }
  }
  return {
    isOneOperation: true,
    write: (statements, end = 'commit') =>
      transaction(async (client) => {
        for (const [text, values = []] of statements) await client.query(numbered(text), [...values])
        return end
      }),
    async fence(mark, isTrue) {
      const tables = [...modelNames, pairs.table].join(', ')
      const all = (client: pg.PoolClient, text: string) =>
        client.query({ text, rowMode: 'array' }).then(({ rows }) => rows as Row[])
      // Another transaction may hold one table and wait for another: a deadlock ends one of the two.
      while (
        !(await transaction(async (client) => {
          await client.query(`lock table ${tables} in share row exclusive mode`)
          for (const text of fenced) await client.query(numbered(text), [mark])
          const owner = await all(client, selects.owner)
          const pet = await all(client, selects.pet)
          const tag = await all(client, selects.tag)
          isTrue(truthIn({ owner, pet, tag, pairs: await all(client, selects.pairs) }))
          return 'commit'
        }))
      )
        await wait(5)
      // Most programs send no notification, and their writes are found by polling; waiting for that each time is slow.
      if (++fences % 8 !== 0) await pool.query("select pg_notify('keelson', '')")
    },
    async breakLog() {
      // Later rows get smaller numbers.
      await pool.query('alter table keelson_log alter column seq set increment by -1 restart with 1000000000')
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}
