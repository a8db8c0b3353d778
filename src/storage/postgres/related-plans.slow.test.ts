import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { emptyDatabase, withPostgres } from '../../../test/support/postgres-database.ts'
import { openTestStore } from '../../../test/support/postgres-store.ts'
import { parseWhere } from '../../criteria/parse-where.ts'
import { toSql } from '../../criteria/to-sql.ts'
import { textOf } from '../../sql/sql.ts'
import { defaultLimits } from '../../support/limits.ts'
import { postgresDialect } from './dialect.ts'

describe('a condition that leads through associations', withPostgres, () => {
  const text = { type: 'string' } as const
  const models = {
    owner: { attributes: { city: text, pets: { collection: 'pet', via: 'owner' } } },
    pet: { attributes: { owner: { model: 'owner' }, visits: { collection: 'visit', via: 'pet' } } },
    visit: { attributes: { pet: { model: 'pet' } } },
    tag: { attributes: { name: text, pets: { collection: 'animal', via: 'tags' } } },
    animal: { attributes: { name: text, tags: { collection: 'tag', via: 'pets' } } },
  } as const
  /** It holds for all rows. */
  const isOpen = { or: [{ owner: null }, { owner: { city: { '!=': 'closed' } } }] }
  const fill = `
    insert into owner (city) select 'city' from generate_series(1, 20000) i;
    insert into pet (owner) select i from generate_series(1, 20000) i;
    insert into visit (pet) select i from generate_series(1, 20000) i;
    insert into tag (name) select 'tag' from generate_series(1, 20000) i;
    insert into animal (name) select 'animal' from generate_series(1, 20000) i;
    insert into animal_tags__tag_pets (animal_tags, tag_pets) select i, i from generate_series(1, 20000) i;
    analyze`
  type Case = readonly [what: string, model: keyof typeof models, where: object, page: string]
  const cases: readonly Case[] = [
    ['of a page', 'visit', { pet: isOpen }, 'order by "id" limit 31'],
    ['of a record by key', 'visit', { id: 5, pet: isOpen }, ''],
    ['of a record by key, negated', 'visit', { id: 5, not: { pet: isOpen } }, ''],
    ['of several records by key', 'visit', { id: [5, 6, 7], not: { pet: isOpen } }, ''],
    ['through members, negated', 'pet', { id: 5, not: { visits: { id: { '>': 0 } } } }, ''],
    ['through members of members, negated', 'owner', { id: 5, not: { pets: { visits: { id: { '>': 0 } } } } }, ''],
    ['through a junction, negated', 'animal', { id: 5, not: { tags: { name: 'tag' } } }, ''],
  ]

  test('reads no table as a whole for few records', async () => {
    await using database = await emptyDatabase()
    await using store = await openTestStore(database.url, models)
    const other = await database.connect()
    await other.query(fill)
    const dialect = postgresDialect()
    for (const [what, name, where, page] of cases) {
      const model = store.model(name)
      const condition = toSql(parseWhere(where as never, model, defaultLimits), model, dialect)
      const explained = `explain select "id" from "${name}" where ${textOf(condition, dialect.placeholder)} ${page}`
      const plan = (await other.query(explained, condition.values)).flat().join('\n')
      assert.doesNotMatch(plan, /Seq Scan/, `${what}: ${explained}\n${plan}`)
    }
  })
})
