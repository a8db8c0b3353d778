import type { Dialect } from '../sql/dialect.ts'
import { raw, type Sql, sql, textOf } from '../sql/sql.ts'
import { chain, type Maybe } from '../support/maybe.ts'
import { metaTable } from './capture.ts'
import type { Driver } from './driver.ts'

/** What is remembered of a database, in the database: that it was seeded, for one. Neither served nor logged. */
export interface Notes {
  get(name: string): Maybe<string | undefined>
  /** Durable when its promise resolves. */
  set(name: string, text: string): Promise<void>
}

/** Notes in a table that stands beside the log. */
export function sqlNotes(driver: Driver, dialect: Dialect): Notes {
  const spell = (statement: Sql): string => textOf(statement, dialect.placeholder)
  return {
    get(name) {
      const statement = sql`${raw(`select value from ${metaTable} where name = `)}${name}`
      return chain(driver.read(spell(statement), statement.values, 'short'), ([row]) => row?.[0] as string | undefined)
    },
    async set(name, text) {
      const into = raw(`insert into ${metaTable} (name, value) values (`)
      const statement = sql`${into}${name}, ${text}) on conflict (name) do update set value = excluded.value`
      await driver.write(spell(statement), statement.values, undefined)
    },
  }
}

export function memoryNotes(): Notes {
  const notes = new Map<string, string>()
  return {
    get: (name) => notes.get(name),
    set: async (name, text) => void notes.set(name, text),
  }
}
