import type { Dialect } from '../sql/dialect.ts'
import { raw, type Sql, sql, textOf } from '../sql/sql.ts'
import { andThen, type MaybePromise } from '../support/maybe-promise.ts'
import { metaTable } from './capture.ts'
import type { Driver } from './driver.ts'

/** Named values stored in the database itself, for example that it was seeded. Neither served nor logged. */
export interface MetadataTable {
  get(name: string): MaybePromise<string | undefined>
  /** Durable when the promise resolves. */
  set(name: string, text: string): Promise<void>
}

/** Stored in a table beside the change log. */
export function sqlMetadataTable(driver: Driver, dialect: Dialect): MetadataTable {
  const spell = (statement: Sql): string => textOf(statement, dialect.placeholder)
  return {
    get(name) {
      const statement = sql`${raw(`select value from ${metaTable} where name = `)}${name}`
      return andThen(driver.query(spell(statement), statement.values), ([row]) => row?.[0] as string | undefined)
    },
    async set(name, text) {
      const into = raw(`insert into ${metaTable} (name, value) values (`)
      const statement = sql`${into}${name}, ${text}) on conflict (name) do update set value = excluded.value`
      await driver.write(spell(statement), statement.values, undefined)
    },
  }
}

export function memoryMetadataTable(): MetadataTable {
  const notes = new Map<string, string>()
  return {
    get: (name) => notes.get(name),
    set: async (name, text) => void notes.set(name, text),
  }
}
