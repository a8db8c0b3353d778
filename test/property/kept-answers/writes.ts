import { DatabaseSync } from 'node:sqlite'
import type { OpenService } from '../../../src/service/open-service.ts'
import type { Random } from '../../support/random.ts'
import type { Any } from './models.ts'

/** A write as data, so that any process can do it. */
export interface Write {
  readonly what: ServiceWrite | SqlWrite
  readonly id: number
  readonly other: number
  readonly name: string
}

/** Does a write as one program among several. */
export type Program = (write: Write) => unknown

/** SQL deletes toys as well. */
const unlessGone = (write: Promise<unknown>): Promise<unknown> =>
  write.catch((error) => {
    if (error.code !== 'E_NO_SUCH_RECORD') throw error
  })

const byService = {
  'rename a pet': ({ pet }: Any, { id, name }: Write) => pet.update(id, { name, age: id }),
  'give a pet': ({ pet }: Any, { id, other }: Write) => pet.update(id, { owner: other }),
  'rename an owner': ({ owner }: Any, { other, name }: Write) => owner.update(other, { name }),
  'move an owner': ({ owner }: Any, { id, other }: Write) => owner.update(other, { city: 1 + (id % 3) }),
  'rename a city': ({ city }: Any, { id, name }: Write) => city.update(1 + (id % 3), { name }),
  'add a fan': ({ pet }: Any, { id, other }: Write) => pet.add(id, 'fans', other),
  'remove a fan': ({ pet }: Any, { id, other }: Write) => pet.remove(id, 'fans', other),
  'note a visit': ({ visit }: Any, { id, name }: Write) => visit.update(id, { note: name, pet: id }),
  'give a toy': ({ toy }: Any, { id, other, name }: Write) => unlessGone(toy.update(id, { name, pet: other })),
  'take a toy': ({ toy }: Any, { id }: Write) => unlessGone(toy.update(id, { pet: null })),
  'create a visit': ({ visit }: Any, { id, name }: Write) => visit.create({ note: name, pet: id }),
} as const
type ServiceWrite = keyof typeof byService

const bySql = {
  'SQL on pets': ({ id, other, name }: Write) => `update pet set name = '${name}', age = ${other} where id = ${id}`,
  'SQL on owners': ({ id, other }: Write) => `update owner set city = ${1 + (id % 3)} where id = ${other}`,
  'SQL on cities': ({ id, name }: Write) => `update city set name = '${name}' where id = ${1 + (id % 3)}`,
  'SQL on visits': ({ id, name }: Write) => `update visit set note = '${name}' where id = ${id}`,
  'SQL on toys': ({ id, other }: Write) => `update toy set pet = ${other} where id = ${id}`,
  'a toy that replaces another': ({ id, other, name }: Write) =>
    `insert or replace into toy (id, name, pet) values (${id}, '${name}', ${other})`,
  'a toy that takes the key of another': ({ id, other }: Write) =>
    `begin; update or replace toy set id = ${id} where id = ${other}; insert or ignore into toy (id, name) values (${other}, 'z'); commit`,
  'a toy that comes and one that goes': ({ id, other, name }: Write) =>
    `begin; delete from toy where id = ${id}; insert into toy (name, pet) values ('${name}', ${other}); commit`,
  'SQL on two tables': ({ id, name }: Write) =>
    `begin; update pet set age = ${id}; update visit set note = '${name}'; commit`,
  'SQL on many rows': ({ name }: Write) =>
    `begin; ${`update city set name = '${name}' where id = 1;`.repeat(300)} commit`,
  'SQL that is rolled back': ({ name }: Write) => `begin; update pet set name = 'not ${name}'; rollback`,
  'a key that is used again': ({ other, name }: Write) =>
    `begin; delete from visit where id = ${other}; insert into visit (id, note, pet) values (${other}, '${name}', 1); commit`,
  'a key that changes': ({ id, other }: Write) =>
    `begin; update visit set id = 99 where id = ${id}; update visit set id = ${id} where id = ${other}; update visit set id = ${other} where id = 99; commit`,
  'a record that replaces another': ({ id, name }: Write) =>
    `insert or replace into visit (id, note, pet) values (${id}, '${name}', 2); insert or replace into chip (id, code) values (${id}, '${name}')`,
  'a city that comes': ({ name }: Write) => `insert into city (name) values ('${name}')`,
  'a city that goes': ({ id }: Write) => `delete from city where id = ${3 + id}`,
  'a trimmed log': ({ id }: Write) =>
    `delete from keelson_log where seq < (select max(seq) from keelson_log) - ${id * 10}`,
} as const
type SqlWrite = keyof typeof bySql

export function serviceProgram({ records }: OpenService): Program {
  const all = Object.fromEntries(records)
  return (write) => byService[write.what as ServiceWrite](all, write)
}

export function sqlProgram(database: DatabaseSync): Program {
  return (write) => database.exec(bySql[write.what as SqlWrite](write))
}

export const openSql = (path: string): DatabaseSync => new DatabaseSync(path, { timeout: 5_000 })

const serviceWrites = Object.keys(byService) as readonly ServiceWrite[]
const sqlWrites = Object.keys(bySql) as readonly SqlWrite[]

export const randomWrite = (random: Random, by: 'service' | 'sql'): Write => ({
  what: by === 'sql' ? random.pick(sqlWrites) : random.pick(serviceWrites),
  id: 1 + random.below(6),
  other: 1 + random.below(4),
  name: random.pick(['a', 'b', 'c']),
})

/** Each leaves a name that was never there: nothing that was read between two equal answers can be of another moment. */
export function randomWriteWithNewName(random: Random, by: 'service' | 'sql'): Write {
  const write = randomWrite(random, by)
  const what =
    by === 'sql'
      ? random.pick(['SQL on pets', 'SQL on visits'] as const)
      : random.pick(['rename a pet', 'rename an owner', 'note a visit', 'create a visit'] as const)
  return { ...write, what, name: `${by} ${random.next()}` }
}
