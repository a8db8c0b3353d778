import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { ask, Command, folder, post, write } from '../../../test/support/command.ts'
import { emptyDatabase, withPostgres } from '../../../test/support/postgres-database.ts'

const tables = `
create table artists (id integer primary key, name text not null, secret text);
create table albums (id integer primary key, title varchar(80), artist_id integer not null references artists on delete cascade);
create table album_pages (album_id integer, page integer, primary key (album_id, page));
create view titles as select title from albums;
insert into artists (name) values ('Ann');
insert into albums (title, artist_id) values ('First', 1);`

/** A folder with a SQLite file in a folder of its own. */
function withDatabase(files: Readonly<Record<string, string>> = {}): string {
  const cwd = folder({ 'data/.keep': '', ...files })
  using database = new DatabaseSync(join(cwd, 'data', 'shop.db'))
  database.exec(tables)
  return cwd
}

const initialize = (cwd: string, ...args: readonly string[]) =>
  Command.run(['init', '--database', 'sqlite:data/shop.db', ...args], { cwd })

describe('keelson init --database', () => {
  test('writes models that a start serves as they are, and with migrate: add has events', async () => {
    const cwd = withDatabase()
    const { code, stdout, stderr } = await initialize(cwd)
    assert.equal(stderr, '')
    assert.equal(code, 0)
    assert.match(stdout, /2 models describe as many tables; the database was not changed\./)
    assert.match(
      stdout,
      /Left out:\n +album_pages: its key is "album_id" and "page", and that of a model is one column\./,
    )
    assert.match(stdout, /Hidden in responses, because of their names:\n +artist\.secret/)
    assert.match(stdout, /curl http:\/\/localhost:1337\/artist /)

    const config = readFileSync(join(cwd, 'keelson.config.ts'), 'utf8')
    assert.match(config, /database: 'sqlite:data\/shop\.db',/)
    assert.match(config, /\/\/ Left out: "album_pages": its key is/)
    const first = new Command(['start', '--port', '0'], { cwd })
    const [artist] = await ask(`${await first.url()}/artist`)
    assert.deepEqual(artist, { id: 1, name: 'Ann', albums: [{ id: 1, title: 'First', artist: 1 }] })
    await post(`${await first.url()}/album`, { title: 'Second', artist: 1 })
    assert.match(first.stdout, /Schema +up to date/)
    first.kill('SIGTERM')
    await first.ended

    write(cwd, 'keelson.config.ts', config.replace("migrate: 'safe'", "migrate: 'add'"))
    const second = new Command(['start', '--port', '0'], { cwd })
    const url = await second.url()
    const stream = await fetch(`${url}/album`, { headers: { accept: 'text/event-stream' } })
    await post(`${url}/album`, { title: 'Third', artist: 1 })
    let received = ''
    const decoder = new TextDecoder()
    for await (const chunk of stream.body ?? []) {
      received += decoder.decode(chunk, { stream: true })
      if (received.includes('Third')) break
    }
    assert.match(received, /event: created/)
  })

  test('the effects of the next commands are aligned, however long the name of a model is', async () => {
    const cwd = folder({ 'package.json': '{}' })
    using database = new DatabaseSync(join(cwd, 'shop.db'))
    database.exec('create table purchase_order_confirmations (id integer primary key)')
    const { stdout } = await Command.run(['init', '--database', 'sqlite:shop.db'], { cwd })
    const steps = [...(stdout.split('Next:\n')[1] ?? '').matchAll(/^ {4}\S.*? {3,}(?=\S)/gm)]
    assert.equal(steps.length, 4)
    assert.equal(new Set(steps.map(([command]) => command.length)).size, 1)
  })

  test('with --json, prints what was written and left out', async () => {
    const cwd = withDatabase({ 'package.json': '{}', '.gitignore': '', 'tsconfig.json': '{}' })
    const command = new Command(['init', '--json', '--database', 'file:data/shop.db', '--tables', 'albums'], { cwd })
    await command.ended
    assert.deepEqual(command.events, [
      {
        event: 'created',
        files: ['keelson.config.ts'],
        scripts: ['dev', 'start'],
        models: ['album'],
        junctions: [],
        leftOut: {},
        notes: ['album: The foreign key "artist_id" to "artists" is not an association: "artists" has no model'],
        hidden: [],
      },
    ])
  })

  const written = { 'keelson.config.ts': 'export default {}' }
  for (const [what, args, message, code, files] of [
    ['a file that does not exist', ['--database', 'sqlite:other.db'], /Database not found: .*other\.db/, 1, {}],
    ['a database in memory', ['--database', 'sqlite::memory:'], /names no existing database/, 2, {}],
    [
      'a table that does not exist',
      ['--database', 'sqlite:data/shop.db', '--tables', 'album'],
      /no table "album"[\s\S]*albums/,
      2,
      {},
    ],
    [
      'another kind of database',
      ['--database', 'mysql://root@localhost/shop'],
      /✗ --database: the tables of "mysql:" cannot be read \(sqlite:, postgres:\)/,
      2,
      {},
    ],
    [
      'a file without a scheme',
      ['--database', 'data/shop.db'],
      /✗ --database: "data\/shop\.db" has no scheme; a file is "sqlite:data\/shop\.db"/,
      2,
      {},
    ],
    ['tables without a database', ['--tables', 'albums'], /--tables needs --database/, 2, {}],
    [
      'no table that can be served',
      ['--database', 'sqlite:data/shop.db', '--tables', 'album_pages'],
      /no table that a model can describe\n +album_pages: its key/,
      1,
      {},
    ],
    [
      'a view',
      ['--database', 'sqlite:data/shop.db', '--tables', 'titles'],
      /no table that a model can describe\n +titles: a view; on SQLite only tables are served/,
      1,
      {},
    ],
    [
      'an existing configuration',
      ['--database', 'sqlite:data/shop.db'],
      /keelson\.config\.ts exists already/,
      1,
      written,
    ],
  ] as const) {
    test(`writes nothing for ${what}`, async () => {
      const cwd = withDatabase(files)
      const before = readdirSync(cwd)
      const { code: exitCode, stderr } = await Command.run(['init', ...args], { cwd })
      assert.match(stderr, message)
      assert.equal(exitCode, code)
      assert.deepEqual(readdirSync(cwd), before)
    })
  }
})

describe('keelson init --database with PostgreSQL', withPostgres, () => {
  test('a table of a schema that is not in the search path is left out with the reason', async () => {
    await using database = await emptyDatabase()
    await database.query(
      'create schema sales; create table sales.invoice (id int primary key); create table person (id int primary key)',
    )
    const cwd = folder({ 'package.json': '{}' })
    const command = new Command(['init', '--json', '--database', database.url, '--tables', 'person,sales.invoice'], {
      cwd,
    })
    await command.ended
    const [{ models, leftOut }] = command.events as unknown as readonly [
      { models: unknown; leftOut: Record<string, string> },
    ]
    assert.deepEqual([models, Object.keys(leftOut)], [['person'], ['sales.*']])
    assert.match(leftOut['sales.*'] ?? '', /not in the search path/)
  })

  test('writes no password, and models that a start serves', async () => {
    await using database = await emptyDatabase()
    await database.query(tables.replaceAll('integer primary key', 'int generated by default as identity primary key'))
    const secret = new URL(database.url)
    // The server on the machine accepts any password.
    secret.password ||= 'hunter2'
    const { password } = secret
    secret.searchParams.set('password', password)
    secret.searchParams.set('sslmode', 'disable')
    const cwd = folder()
    const { code, stdout, stderr } = await Command.run(['init', '--database', secret.href], { cwd })
    assert.equal(stderr, '')
    assert.equal(code, 0)
    assert.match(stdout, /npm install pg /)
    assert.match(stdout, /export DATABASE_URL=… +the URL with the password, which is not in the configuration/)
    for (const name of readdirSync(cwd)) assert.ok(!readFileSync(join(cwd, name), 'utf8').includes(password), name)
    assert.match(
      readFileSync(join(cwd, 'keelson.config.ts'), 'utf8'),
      /process\.env\.DATABASE_URL \?\? 'postgres.*sslmode=disable',/,
    )

    const command = new Command(['start', '--port', '0'], { cwd, env: { DATABASE_URL: database.url } })
    const [artist] = await ask(`${await command.url()}/artist`)
    assert.deepEqual(artist, { id: 1, name: 'Ann', albums: [{ id: 1, title: 'First', artist: 1 }] })
  })

  test('a server that accepts no further connection is reported with advice', async () => {
    await using database = await emptyDatabase()
    const role = `${new URL(database.url).pathname.slice(1)}_limited`
    await database.query(`create role ${role} login password 'secret' connection limit 0`)
    const limited = Object.assign(new URL(database.url), { username: role, password: 'secret' })
    const { code, stderr } = await Command.run(['init', '--database', limited.href], { cwd: folder() })
    await database.query(`drop role ${role}`)
    assert.match(stderr, /✗ The database cannot be used: too many connections for role/)
    assert.match(stderr, /up to 41 connections: raise `max_connections` of the server/)
    assert.equal(code, 1)
  })
})
