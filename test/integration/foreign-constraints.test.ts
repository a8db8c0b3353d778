import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from 'keelson'
import { schemaDatabases } from '../support/schema-databases.ts'

const raises = {
  sqlite: `create trigger low before update on pet when new.age < 0 begin select raise(abort, 'secret'); end;
    create trigger kept before delete on pet begin select raise(abort, 'secret'); end;
    create trigger full before insert on pet when new.name = 'low' begin select raise(abort, 'secret'); end;
    create trigger lost before insert on pet when new.name = 'lost' begin select raise(ignore); end;
    create trigger fixed before update on pet when new.age = 50 begin select raise(ignore); end;
    create trigger stays before delete on shelf begin select raise(ignore); end;
    create trigger needed before delete on lid begin select raise(ignore); end;
    create trigger tossed before delete on box begin insert into waste values ('box'); end;
    create trigger named after insert on shelf begin insert into names (name, label) values (new.name, new.label); end;
    create trigger renamed after update on shelf begin update names set name = new.name, label = new.label; end`,
  postgres: `create function judge() returns trigger language plpgsql as $$ begin
      if tg_op = 'DELETE' or new.age < 0 or new.name = 'low' then raise exception 'secret'; end if;
      if new.name = 'denied' then raise insufficient_privilege using message = 'permission denied for table audit'; end if;
      if new.name = 'lost' or new.age = 50 then return null; end if;
      return new; end $$;
    create trigger judge before insert or update or delete on pet for each row execute function judge();
    create function keep() returns trigger language plpgsql as $$ begin return null; end $$;
    create trigger stays before delete on shelf for each row execute function keep();
    create trigger needed before delete on lid for each row execute function keep();
    create function toss() returns trigger language plpgsql as $$ begin insert into waste values ('box'); return old; end $$;
    create trigger tossed before delete on box for each row execute function toss();
    create function name() returns trigger language plpgsql as $$ begin
      if tg_op = 'UPDATE' then update names set name = new.name, label = new.label;
      else insert into names (name, label) values (new.name, new.label); end if;
      return null; end $$;
    create trigger named after insert or update on shelf for each row execute function name();
    create table plot (id int primary key) partition by range (id);
    create table plot_1 partition of plot for values from (1) to (9);
    insert into plot values (1);
    create table stamp (id serial primary key, gone boolean);
    create rule kept as on delete to stamp do instead update stamp set gone = true where id = old.id;
    insert into stamp (gone) values (false);
    create table coin (id serial primary key, name text constraint coin_name unique deferrable);
    create type mood as enum ('calm', 'wild');
    create table counted (id bigint primary key generated always as identity, name text, mood mood);
    create view young as select id, age from pet where age < 9 with check option;
    create view tally as select age as id, count(*)::int as pets from pet group by age;
    create materialized view kept as select 1 as id, 2 as pets`,
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
  ['an update that a trigger drops', ['PATCH', '/pet/1', { age: 50 }], [400, 'did not change the pet']],
  [
    'the same in a list',
    ['POST', '/batch', [{ method: 'PATCH', url: '/pet/1', body: { age: 50 } }]],
    [400, 'did not change'],
  ],
  ['a delete whose trigger stores a value twice', ['DELETE', '/box/1'], [400, 'does not allow this change']],
  [
    'an insert whose trigger stores a value of another table twice',
    ['POST', '/shelf', { name: 'top', label: 'a' }],
    [400, '"detail":"The database does not allow this change"'],
  ],
  [
    'the same in an index over an expression',
    ['POST', '/shelf', { name: 'next', label: 'A' }],
    [400, '"detail":"The database does not allow this change"'],
  ],
  [
    'an update whose trigger stores nothing where another table needs a value',
    ['PATCH', '/shelf/1', { label: null }],
    [400, '"detail":"The database does not allow this change"'],
  ],
  ['a key that a partition has', ['POST', '/plot', { id: 1 }], [400, '"invalidAttributes":{"id"'], 'postgres'],
  ['a delete that a trigger drops', ['DELETE', '/lid/1'], [400, 'did not delete the lid']],
  ['the same of a record to which others refer', ['DELETE', '/shelf/1'], [400, 'did not delete the shelf']],
  ['the same by a condition', ['DELETE', '/shelf?where={"name":"top"}'], [400, 'did not delete the shelf']],
  ['an update of a record that does not exist', ['PATCH', '/pet/99', { age: 4 }], [404, 'No pet with this id']],
  [
    'a missing right of a trigger',
    ['POST', '/pet', { name: 'denied' }],
    [503, 'The database refuses the operation'],
    'postgres',
  ],
  ['the same once more', ['POST', '/pet', { name: 'denied' }], [503, 'refuses the operation'], 'postgres'],
  ['what a rule replaces', ['DELETE', '/stamp/1'], [503, 'refuses the operation'], 'postgres'],
  ['a foreign key of the database alone', ['POST', '/toy', { owner: 9 }], [400, 'names no existing row'], 'postgres'],
  ['a constraint that the commit checks', ['POST', '/toy', [{ shelf: 9 }]], [409, 'one that does not exist']],
  ['the same of one record', ['POST', '/toy', { shelf: 9 }], [400, 'names no existing row'], 'postgres'],
  [
    'a key that is always generated',
    ['POST', '/counted', { id: 9 }],
    [400, 'of counted is always generated by the database'],
    'postgres',
  ],
  [
    'a condition with a value that its column cannot have',
    ['GET', '/counted?mood=angry'],
    [400, 'cannot compare a value of the conditions'],
    'postgres',
  ],
  [
    'an upsert by a value that is checked later',
    ['POST', '/coin?upsert=name', { name: 'penny' }],
    [409, 'coin_name'],
    'postgres',
  ],
  [
    'the same in a batch',
    ['POST', '/batch', [{ method: 'POST', url: '/coin?upsert=name', body: { name: 'penny' } }]],
    [409, 'coin_name'],
    'postgres',
  ],
  ['a view of several rows', ['POST', '/tally', { id: 1, pets: 2 }], [403, 'only reads each tally'], 'postgres'],
  ['the same', ['DELETE', '/tally/3'], [403, 'only reads each tally'], 'postgres'],
  ['a materialized view', ['PATCH', '/kept/1', { pets: 3 }], [403, 'only reads each kept'], 'postgres'],
  ['against the condition of a view', ['PATCH', '/young/1', { age: 20 }], [400, 'cannot store one'], 'postgres'],
]

for (const { name, missing, open } of schemaDatabases) {
  describe(`constraints and triggers of other programs on ${name}`, { skip: missing ?? false }, () => {
    test('are refusals that tell no text of a trigger except to the logger, once, and nothing is written', async () => {
      await using database = await open()
      const key = name === 'sqlite' ? 'integer primary key' : 'serial primary key'
      await database.execute(`
        create table pet (id ${key}, name text, age integer);
        create table toy (id ${key}, owner integer references pet, shelf integer references pet deferrable initially deferred);
        create table shelf (id ${key}, name text, label text);
        create table names (name text unique, label text not null);
        insert into names values ('top', 'a');
        create unique index "it's lower" on names (lower(label));
        create table lid (id ${key}, name text);
        insert into lid (name) values ('red');
        create table box (id ${key}, name text);
        insert into box (name) values ('round');
        create table waste (what text primary key);
        insert into waste values ('box');
        create table tin (id ${key}, shelf integer references shelf, name text);
        insert into pet (name, age) values ('Rex', 3);
        insert into shelf (name) values ('top');
        insert into tin (shelf, name) values (1, 'beans');
        ${raises[name]}`)
      const errors: string[] = []
      const warned: (readonly [data: object, message: string])[] = []
      const whole = { type: 'number', isInteger: true } as const
      const text = { type: 'string' } as const
      const service = await createService({
        database: database.url,
        attributes: { createdAt: false, updatedAt: false },
        models: {
          pet: { attributes: { name: text, age: whole } },
          toy: { attributes: { owner: whole, shelf: whole } },
          shelf: { attributes: { name: text, label: text } },
          lid: { attributes: { name: text } },
          box: { attributes: { name: text } },
          tin: { attributes: { shelf: { model: 'shelf' }, name: text } },
          ...(name === 'postgres' && {
            counted: { attributes: { name: text, mood: text } },
            plot: { attributes: { id: whole } },
            coin: { attributes: { name: { ...text, unique: true } } },
            young: { attributes: { age: whole } },
            tally: { attributes: { pets: whole } },
            kept: { attributes: { pets: whole } },
            stamp: { attributes: { gone: { type: 'boolean' } } },
          }),
        },
        onError: (error) => errors.push(String(error)),
        logger: { info() {}, warn: (data, message) => warned.push([data, message]), error() {} },
      })
      const ask = async (method: string, path: string, body?: object) => {
        const headers = { 'content-type': 'application/json' }
        const request = { method, headers, ...(body && { body: JSON.stringify(body) }) }
        const response = await service.fetch(new Request(`http://localhost${path}`, request))
        return [response.status, await response.text()] as const
      }
      const before = [await ask('GET', '/pet'), await ask('GET', '/toy'), await ask('GET', '/tin')]
      for (const [what, request, [status, part], only] of cases) {
        if (only !== undefined && only !== name) continue
        const [answered, answer] = await ask(...request)
        assert.deepEqual([answered, answer.includes(part)], [status, true], `${what}: ${answered} ${answer}`)
        assert.doesNotMatch(answer, /secret|audit/)
      }
      assert.deepEqual([await ask('GET', '/pet'), await ask('GET', '/toy'), await ask('GET', '/tin')], before)
      await service.close()
      const denied =
        'The database refuses an operation of pet (permission denied for table audit); such requests get 503'
      const ruled =
        'The database refuses an operation of stamp (cannot perform DELETE RETURNING on relation "stamp"); such requests get 503'
      assert.deepEqual(errors, name === 'sqlite' ? [] : [`Error: ${denied}`, `Error: ${ruled}`])
      assert.deepEqual(
        warned.filter(([data]) => 'model' in data && data.model === 'pet'),
        [[{ kind: 'writeRefused', model: 'pet', text: 'secret' }, 'The database has refused a write of pet: secret']],
      )
    })
  })
}
