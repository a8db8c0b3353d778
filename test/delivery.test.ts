import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../src/protocol/json.ts'
import { type DatabaseKind, databases } from './databases.ts'
import { find, markOf, toldUntil, untilMark } from './delivery/heard.ts'
import { type House, openHouse, type Stranger, send, strangerTo } from './delivery/house.ts'
import { StreamClient } from './event-stream.ts'
import { queryOf } from './history/listener.ts'
import { fenceId, type Truth } from './history/models.ts'
import { type Outsider, openOutsider } from './history/outsider.ts'
import { Server } from './history/server.ts'
import { View } from './history/view.ts'
import type { SailsClient } from './sails-client.ts'
import { changesAfter } from './sqlite.ts'

/*
 * What docs/live.md promises to those who listen, by its numbers and in its words.
 */

interface Parts {
  readonly kind: DatabaseKind
  readonly url: string
  /** Two services over one database. */
  readonly first: House
  readonly second: House
  readonly stranger: Stranger
  readonly outsider: Outsider
}

const isPostgres = ({ kind }: Parts): boolean => kind.name === 'postgres'
const marked = (mark: string) => ({ mark })

const promises: Readonly<Record<string, (parts: Parts) => Promise<void>>> = {
  async '1. Nothing is told before it is committed, and nothing of what was rolled back or refused.'(parts) {
    const { first, stranger } = parts
    const { id } = await first.send('POST', '/pet', marked('old'))
    const [pets, owners] = await Promise.all([first.listen('/pet'), first.listen('/owner')])
    const head = await first.service.changes.head()
    await stranger.run('begin')
    for (const mark of ['one', 'two']) await stranger.run(`update pet set mark = '${mark}' where id = ${id}`)
    // On SQLite nobody else can write now; on PostgreSQL others are heard.
    if (isPostgres(parts)) {
      await first.send('POST', '/pet', marked('meanwhile'))
      assert.deepEqual((await pets.take(1)).map(markOf), ['meanwhile'])
    }
    const logged = (await changesAfter(first.service.changes, head)).map((change) => change.after?.mark)
    assert.deepEqual(logged, isPostgres(parts) ? ['meanwhile'] : [])
    await stranger.run(`update pet set mark = 'three' where id = ${id}; commit`)
    await stranger.run(`begin; update pet set mark = 'undone' where id = ${id}; rollback`)
    await assert.rejects(first.send('POST', '/owner', { mark: 'refused', pets: [id as number, 99_999_999] }), / 4\d\d/)
    for (const path of ['/pet', '/owner']) await first.send('POST', path, marked('last'))
    assert.deepEqual((await untilMark(pets, 'last')).map(markOf), ['one', 'two', 'three', 'last'])
    assert.deepEqual((await untilMark(owners, 'last')).map(markOf), ['last'])
    await Promise.all([pets.close(), owners.close()])
  },

  async '2. Everything is told in the order of the log, of one record in the order of its commits.'(parts) {
    const { first, second, stranger } = parts
    const [pet, tag] = [await first.send('POST', '/pet', {}), await first.send('POST', '/tag', {})]
    const head = await first.service.changes.head()
    const client = await second.follow('/pet?limit=1000', '/tag?limit=1000')
    for (let round = 0; round < 10; round++) {
      await first.send('PATCH', `/pet/${pet.id}`, marked(`${round} http`))
      await stranger.run(`update tag set mark = '${round} sql' where id = ${tag.id}`)
      await second.records.tag.create(marked(`${round}`))
      await stranger.run(
        `begin; update tag set mark = '${round}' where id = ${tag.id}; update pet set mark = '${round}' where id = ${pet.id}; commit`,
      )
      await first.records.pet.create(marked(`${round}`))
    }
    // All at once: of one record each tells what the one before has left.
    const all = Array.from({ length: 10 }, (_, index) => marked(`at once ${index}`))
    await Promise.all(all.map((data, index) => (index % 2 ? first : second).send('PATCH', `/pet/${pet.id}`, data)))
    await second.send('PATCH', `/tag/${tag.id}`, marked('last'))
    const told = await client.until((_, event) => markOf(event) === 'last')
    const log = (await changesAfter(first.service.changes, head)).slice(0, -1)
    assert.deepEqual(
      told.map(([model, { verb, id, data }]) => [model, verb, id, data?.mark]),
      log.map(({ model, verb, id, after: is }) => [model, verb, id, is?.mark]),
    )
    const own = told.filter(([model, { id }]) => model === 'pet' && id === pet.id).map(([, event]) => event)
    for (const [index, { previous }] of own.slice(1).entries()) assert.equal(previous?.mark, markOf(own[index]))
  },

  async '3. Who comes back may be told again what was told, always in order.'(parts) {
    const { first, second } = parts
    const { id } = await first.send('POST', '/owner', {})
    for (const mark of ['a', 'b', 'c']) await first.send('POST', '/pet', { mark, owner: id as number })
    const stream = await first.listen('/pet')
    await first.send('DELETE', `/owner/${id}`)
    const part = [await stream.next(), await stream.next()]
    assert.ok(part.every((event) => event.id === undefined))
    await stream.close()
    const resumed = await second.listen('/pet', stream.lastEventId)
    const whole = [await resumed.next(), await resumed.next(), await resumed.next()]
    assert.deepEqual(whole.slice(0, 2), part)
    assert.ok(whole[2]?.id)
    await second.send('POST', '/pet', marked('last'))
    assert.deepEqual((await resumed.take(1)).map(markOf), ['last'])
    await resumed.close()
  },

  async '4. Who resumes from a position hears everything since, or is told `reset`.'(parts) {
    const { first, second, stranger } = parts
    const stream = await first.listen('/pet')
    const begin = stream.lastEventId
    for (const mark of ['a', 'b', 'c', 'd']) {
      const { id } = await first.send('POST', '/pet', marked(mark))
      await stranger.run(`begin; update pet set weight = 1 where id = ${id}; update pet set weight = 2; commit`)
      await second.send('DELETE', `/pet/${id}`)
    }
    await first.send('POST', '/pet', marked('last'))
    /** Those of the stream that was told one by one, and of two that read it all at once. */
    const positions: (readonly [taken: number, id: string])[] = [[0, begin]]
    const heard: JsonObject[] = []
    while (markOf(heard.at(-1)) !== 'last') {
      const { id, data } = await stream.next()
      if (heard.push(data) && id !== undefined) positions.push([heard.length, id])
    }
    await stream.close()
    for (const house of [first, second]) {
      const again = await house.listen('/pet', begin)
      for (const [index, event] of heard.entries()) {
        const { id, data } = await again.next()
        assert.deepEqual(data, event)
        if (id !== undefined) positions.push([index + 1, id])
      }
      await again.close()
    }
    const resumed = await Promise.all(positions.map(([, id]) => second.listen('/pet', id)))
    await first.send('POST', '/pet', marked('after all'))
    for (const [index, again] of resumed.entries()) {
      const told = await untilMark(again, 'after all')
      assert.deepEqual(told.slice(0, -1), heard.slice(positions[index]?.[0]))
      await again.close()
    }
  },

  async '4. Who resumes from a position hears everything since, or is told `reset`. (It is told.)'(parts) {
    const { kind, first } = parts
    await using elsewhere = await kind.open()
    await using other = await openHouse(elsewhere.url)
    const stream = await first.listen('/pet')
    await stream.close()
    await first.send('POST', '/pet', marked('missed'))
    // Nothing goes that a transaction under way may still need, and others use the same server.
    do await first.service.changes.trim({ ageMs: 3_600_000, rows: 0 })
    while ((await first.service.changes.read(stream.lastEventId, 1)) !== 'reset')
    for (const since of [stream.lastEventId, await other.service.changes.head(), 'none']) {
      const resumed = await first.open('/pet', since)
      assert.equal((await resumed.next()).event, 'reset', since)
      await first.send('POST', '/pet', marked('next'))
      assert.deepEqual((await resumed.take(1)).map(markOf), ['next'])
      const loop = first.loop(since)
      assert.equal((await loop.next()).value?.verb, 'reset')
      await Promise.all([resumed.close(), loop.return?.()])
    }
  },

  async '5. What a socket finds and what it is told meet exactly: nothing is lost, and nothing told twice.'(parts) {
    const { first, second, outsider } = parts
    const watching = { model: 'pet', isHeavy: false } as const
    const { id } = await first.send('POST', '/pet', marked('written often'))
    let isWriting = true
    const write = async (house: House) => {
      for (let round = 0; isWriting; round++) {
        const { id: other } = await house.send('POST', '/pet', { weight: round })
        await outsider.write([['update pet set weight = ? where id = ?', [round, id as number]]])
        await house.send('PATCH', `/pet/${id}`, marked(`${round}`))
        if (round % 2) await outsider.write([['delete from pet where id = ?', [other as number]]])
      }
    }
    const writing = Promise.all([write(first), write(second)])
    const clients: SailsClient[] = []
    const views: View[] = []
    const finding = [first, second].map(async (house) => {
      const old = await house.follow('/pet')
      const index = clients.push(old) - 1
      for (let round = 0; round < 15; round++) {
        const again = await find(old, queryOf(watching))
        for (const event of again.before) views[index]?.apply(event)
        views[index] = new View(watching, again.records, false)
        const fresh = await house.follow()
        views[clients.push(fresh) - 1] = new View(watching, (await find(fresh, queryOf(watching))).records, true)
      }
    })
    await Promise.all(finding).finally(() => {
      isWriting = false
    })
    await writing
    const truths: Truth[] = []
    await outsider.fence('the end', (truth) => truths.push(truth))
    for (const [index, view] of views.entries()) {
      const client = clients[index] as SailsClient
      for (const event of await toldUntil(client, ({ id }) => id === fenceId)) view.apply(event)
      view.compare(truths[0] as Truth)
    }
  },

  async '6. Through a filter, what comes into sight is `created`, what leaves it `destroyed` without values.'(parts) {
    const { first, stranger } = parts
    const stream = await first.listen('/pet?weight=7')
    const { id } = await first.send('POST', '/pet', { mark: 'a', weight: 6 })
    await stranger.run(`update pet set weight = 7 where id = ${id}; update pet set weight = 8 where id = ${id}`)
    await first.send('PATCH', `/pet/${id}`, marked('unseen'))
    await first.send('POST', '/pet', { mark: 'last', weight: 7 })
    const [came, left, last] = await stream.take(3)
    assert.deepEqual(came, { model: 'pet', verb: 'created', id, data: { id, mark: 'a', weight: 7, owner: null } })
    assert.deepEqual(left, { model: 'pet', verb: 'destroyed', id })
    assert.equal(markOf(last), 'last')
    await stream.close()
  },

  async '7. Changes by other programs are told like any other.'(parts) {
    const { first, second, stranger } = parts
    const client = await first.follow('/pet?limit=1000')
    const stream = await second.listen('/pet')
    const insert = (id: number, mark: string, verb = 'insert') =>
      `${verb} into pet (id, mark, weight) values (${id}, '${mark}', 70)`
    await stranger.run(`${insert(7001, 'one')}; ${insert(7002, 'two')}`)
    await stranger.run(`update pet set mark = 'both' where id in (7001, 7002)`)
    await stranger.run('delete from pet where id = 7001')
    // As databases.md says: in tables of ours no session has its triggers off; and what is replaced goes unheard.
    if (isPostgres(parts)) await stranger.run('set session_replication_role = replica')
    if (isPostgres(parts)) await stranger.run('delete from pet where id = 7002')
    else await stranger.run(insert(7002, 'replaced', 'insert or replace'))
    await stranger.run(insert(7003, 'last'))
    const heard = await untilMark(stream, 'last')
    const inWords = heard.map(
      ({ verb, id, data, previous }) => `${verb} ${id} ${((data ?? previous) as JsonObject).mark}`,
    )
    assert.deepEqual(inWords, [
      ...['created 7001 one', 'created 7002 two', 'updated 7001 both', 'updated 7002 both', 'destroyed 7001 both'],
      isPostgres(parts) ? 'destroyed 7002 both' : 'created 7002 replaced',
      'created 7003 last',
    ])
    const told = await toldUntil(client, ({ id }) => id === 7003)
    const asTold = ({ model: _, ...event }: JsonObject) => event
    assert.deepEqual(told, heard.map(asTold))
    if (isPostgres(parts)) {
      const gone = new Promise((resolve) => client.socket.on('disconnect', resolve))
      await stranger.run('reset session_replication_role; truncate pet cascade')
      assert.equal((await stream.next()).event, 'reset')
      await gone
    }
    await stream.close()
  },

  // What hostile listeners may do, and what they cost: test/hostile-listeners.test.ts.
  async '8. Who is slow is told `reset` or disconnected, and delays nobody.'(parts) {
    await using database = await parts.kind.open()
    await using house = await openHouse(database.url, { maxQueuedBytes: 100_000 })
    const [slow, quick] = [await house.listen('/pet'), await house.listen('/pet')]
    const client = await house.follow('/pet')
    const loop = house.loop()
    await loop.next()
    slow.pause()
    const marks = Array.from({ length: 60 }, (_, index) => `${index} ${'x'.repeat(300_000)}`)
    for (const mark of marks) {
      await house.send('POST', '/pet', { mark })
      assert.deepEqual((await quick.take(1)).map(markOf), [mark])
      await client.until((_, event) => markOf(event) === mark)
    }
    slow.resume()
    const heard = await slow.rest()
    assert.equal(heard.at(-1)?.event, 'reset')
    const told = heard.slice(0, -1).map(({ data }) => markOf(data))
    assert.deepEqual(told, marks.slice(0, told.length))
    for (const mark of marks) assert.equal(markOf((await loop.next()).value), mark)
    await Promise.all([loop.return?.(), quick.close(), slow.close()])
  },

  async '9. The end of a record is told once and lets all go; a later one with its key is a stranger.'(parts) {
    const { first, second, stranger } = parts
    const [{ id }, other] = [await first.send('POST', '/pet', {}), await first.send('POST', '/pet', {})]
    const record = await first.listen(`/pet/${id}`)
    const lookers = [await first.follow(`/pet/${id}`, `/pet/${other.id}`), await second.follow(`/pet/${id}`)]
    await lookers[1]?.ask('get', `/pet/${other.id}`)
    const watcher = await second.follow(`/pet?id=${id}`)
    await second.send('DELETE', `/pet/${id}`)
    await stranger.run(`insert into pet (id, mark, weight) values (${id}, 'a stranger', 0)`)
    await first.send('PATCH', `/pet/${id}`, marked('another'))
    await first.send('DELETE', `/pet/${id}`)
    await first.send('PATCH', `/pet/${other.id}`, marked('last'))
    await first.send('POST', '/pet', marked('last'))
    const verbs = async (client: SailsClient) =>
      (await toldUntil(client, (event) => markOf(event) === 'last')).map(({ verb }) => verb)
    for (const looker of lookers) assert.deepEqual(await verbs(looker), ['destroyed', 'updated'])
    assert.deepEqual(await verbs(watcher), ['destroyed', 'created', 'updated', 'destroyed', 'created'])
    const [end, ...more] = await record.rest()
    assert.deepEqual([end?.event, more, record.isWhole], ['destroyed', [], true])
  },

  async '10. A stop tells where to go on, and after a crash one resumes as after any disconnection. (A stop.)'(parts) {
    const { second, stranger, url } = parts
    const house = await openHouse(url)
    const stream = await house.listen('/pet')
    const loop = house.loop()
    await loop.next()
    const client = await house.follow('/pet')
    const gone = new Promise((resolve) => client.socket.on('disconnect', resolve))
    const end = loop.next()
    await house.service.close()
    await gone
    const [[told, ...more], { value: last }] = [await stream.rest(), await end]
    assert.deepEqual([told?.event, more, last?.verb], ['restart', [], 'restart'])
    await stranger.run(`insert into pet (id, mark, weight) values (10001, 'meanwhile', 0)`)
    for (const position of [told?.id, last?.position]) {
      const resumed = await second.listen('/pet', position)
      assert.deepEqual((await resumed.take(1)).map(markOf), ['meanwhile'])
      await resumed.close()
    }
  },

  async '10. A stop tells where to go on, and after a crash one resumes as after any disconnection. (A crash.)'(parts) {
    const { second, url } = parts
    await using server = new Server(url)
    await server.start()
    const address = server.url as string
    const connect = () => StreamClient.ready(Number(new URL(address).port), '/pet')
    const [stream, pace] = [await connect(), await connect()]
    const acknowledged: (Json | undefined)[] = []
    const write = async (writer: number) => {
      for (let round = 0; ; round++)
        acknowledged.push((await send(address, 'POST', '/pet', marked(`${writer}.${round}`))).mark)
    }
    const writing = [1, 2, 3].map((writer) => assert.rejects(write(writer), TypeError))
    const heard = await stream.take(50)
    await pace.take(100)
    await server.end('SIGKILL')
    await Promise.all([...writing, stream.closed, pace.closed])
    const resumed = await second.listen('/pet', stream.lastEventId)
    await second.send('POST', '/pet', marked('last'))
    const marks = [...heard, ...(await untilMark(resumed, 'last'))].map(markOf)
    assert.ok(acknowledged.every((mark) => marks.includes(mark)))
    // What was written at the same time may come again on PostgreSQL.
    if (!isPostgres(parts)) assert.equal(marks.length, new Set(marks).size)
    await resumed.close()
  },
}

test('docs/live.md has the same promises', () => {
  const page = readFileSync(new URL('../docs/live.md', import.meta.url), 'utf8')
  const written = page.matchAll(/^(\d+\.) \*\*([^*]+)\*\*/gm).map(([, number, words]) => `${number} ${words}`)
  const tested = Object.keys(promises).map((title) => title.replace(/ \([^)]+\)$/, ''))
  assert.deepEqual([...written], [...new Set(tested)])
})

for (const kind of databases.filter(({ name }) => name !== 'memory')) {
  describe(`whoever listens may rely on this, over ${kind.name}:`, { skip: kind.missing ?? false }, () => {
    let parts: Parts
    const opened = new AsyncDisposableStack()
    before(async () => {
      const { url } = opened.use(await kind.open())
      const [first, second] = [opened.use(await openHouse(url)), opened.use(await openHouse(url))]
      const [outsider, stranger] = [opened.use(await openOutsider(url)), opened.use(await strangerTo(url))]
      parts = { kind, url, first, second, outsider, stranger }
    })
    after(() => opened.disposeAsync())
    for (const [words, proof] of Object.entries(promises)) test(words, () => proof(parts))
  })
}
