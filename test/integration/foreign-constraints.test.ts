import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from 'keelson'
import { schemaDatabases } from '../support/schema-databases.ts'

const raises = {
  sqlite: `create trigger low before update on pet when new.age < 0 begin select raise(abort, 'secret'); end;
    create trigger kept before delete on pet begin select raise(abort, 'secret'); end;
    create trigger full before insert on pet when new.name = 'low' begin select raise(abort, 'secret'); end;
    create trigger lost before insert on pet when new.name = 'lost' begin select raise(ignore); end`,
  postgres: `create function judge() returns trigger language plpgsql as $$ begin
      if tg_op = 'DELETE' or new.age < 0 or new.name = 'low' then raise exception 'secret'; end if;
      if new.name = 'lost' then return null; end if;
      return new; end $$;
    create trigger judge before insert or update or delete on pet for each row execute function judge();
    create table counted (id bigint primary key generated always as identity, name text);
    create view young as select id, age from pet where age < 9 with check option`,
}

const cats = (name: string) => ({ method: 'POST', url: '/pet', body: { name } })

/** What is answered: a status and a part of the text. */
const cases: readonly (readonly [
  what: string,
  request: readonly [method: string, path: string, body?: object],
  answered: readonly [status: number, part: string],
  only?: 'postgres',
])[] = [
  [
    'an update against which a trigger raises',
    ['PATCH', '/pet/1', { age: -1 }],
    [400, 'cannot store one of the values'],
  ],
  [
    'an insert against which a trigger raises',
    ['POST', '/pet', { name: 'low' }],
    [400, 'cannot store one of the values'],
  ],
  ['a delete against which a trigger raises', ['DELETE', '/pet/1'], [400, 'does not allow this change']],
  ['the same in a batch', ['POST', '/batch', [cats('low')]], [400, 'cannot store one of the values']],
  ['an insert that a trigger drops', ['POST', '/pet', { name: 'lost' }], [400, 'did not store the pet']],
  [
    'a list with one that a trigger drops',
    ['POST', '/pet', [{ name: 'Tom' }, { name: 'lost' }]],
    [400, 'did not store'],
  ],
  ['a foreign key of the database alone', ['POST', '/toy', { owner: 9 }], [400, 'names a row that'], 'postgres'],
  ['a constraint that the commit checks', ['POST', '/toy', [{ shelf: 9 }]], [409, 'one that does not exist']],
  ['the same of one record', ['POST', '/toy', { shelf: 9 }], [400, 'names a row that'], 'postgres'],
  [
    'a key that is always generated',
    ['POST', '/counted', { id: 9 }],
    [400, 'cannot store one of the values'],
    'postgres',
  ],
  ['against the condition of a view', ['PATCH', '/young/1', { age: 20 }], [400, 'cannot store one'], 'postgres'],
]

for (const { name, missing, open } of schemaDatabases) {
  describe(`constraints and triggers of other programs on ${name}`, { skip: missing ?? false }, () => {
    test('are refusals that tell no text of a trigger, and nothing is written', async () => {
      await using database = await open()
      const key = name === 'sqlite' ? 'integer primary key' : 'serial primary key'
      await database.execute(`
        create table pet (id ${key}, name text, age integer);
        create table toy (id ${key}, owner integer references pet, shelf integer references pet deferrable initially deferred);
        insert into pet (name, age) values ('Rex', 3);
        ${raises[name]}`)
      const whole = { type: 'number', isInteger: true } as const
      const text = { type: 'string' } as const
      const service = await createService({
        database: database.url,
        attributes: { createdAt: false, updatedAt: false },
        models: {
          pet: { attributes: { name: text, age: whole } },
          toy: { attributes: { owner: whole, shelf: whole } },
          ...(name === 'postgres' && {
            counted: { attributes: { name: text } },
            young: { attributes: { age: whole } },
          }),
        },
        onError: (error) => assert.fail(`reported: ${error}`),
      })
      const ask = async (method: string, path: string, body?: object) => {
        const headers = { 'content-type': 'application/json' }
        const request = { method, headers, ...(body && { body: JSON.stringify(body) }) }
        const response = await service.fetch(new Request(`http://localhost${path}`, request))
        return [response.status, await response.text()] as const
      }
      const before = [await ask('GET', '/pet'), await ask('GET', '/toy')]
      for (const [what, request, [status, part], only] of cases) {
        if (only !== undefined && only !== name) continue
        const [answered, answer] = await ask(...request)
        assert.deepEqual([answered, answer.includes(part)], [status, true], `${what}: ${answered} ${answer}`)
        assert.doesNotMatch(answer, /secret/)
      }
      assert.deepEqual([await ask('GET', '/pet'), await ask('GET', '/toy')], before)
      await service.close()
    })
  })
}
