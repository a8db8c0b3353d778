import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { modelNames, pairs } from './models.ts'
import type { Outsider } from './outsider.ts'
import { fenced, type Row, selects, truthIn } from './tables.ts'

export async function postgresOutsider(url: string): Promise<Outsider> {
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  pool.on('error', () => {}) // whoever uses it is told
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
    write: (statements, end = 'commit') =>
      transaction(async (client) => {
        for (const [text, values = []] of statements) await client.query(numbered(text), [...values])
        return end
      }),
    async fence(mark, isTrue) {
      const tables = [...modelNames, pairs.table].join(', ')
      const all = (client: pg.PoolClient, text: string) =>
        client.query({ text, rowMode: 'array' }).then(({ rows }) => rows as Row[])
      // Somebody who holds one table and wants another may be in the way, and then one of us gives up.
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
      // Most strangers do not say that they wrote, and are found out before long; waiting for that each time takes long.
      if (++fences % 8 !== 0) await pool.query("select pg_notify('keelson', '')")
    },
    async breakLog() {
      // Later rows get smaller numbers.
      await pool.query('alter table keelson_log alter column seq set increment by -1 restart with 1000000000')
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}
