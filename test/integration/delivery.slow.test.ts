import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../src/protocol/json.ts'
import { type ForeignWriter, openForeignWriter } from '../chaos/history/foreign-writer.ts'
import { queryOf } from '../chaos/history/listener.ts'
import { fenceId, type Truth } from '../chaos/history/models.ts'
import { Server } from '../chaos/history/server.ts'
import { View } from '../chaos/history/view.ts'
import { type DatabaseKind, databases } from '../support/databases.ts'
import { StreamClient } from '../support/event-stream.ts'
import type { SailsClient } from '../support/sails-client.ts'
import { changesAfter } from '../support/sqlite.ts'
import { find, markOf, receivedUntil, untilMark } from './delivery/received.ts'
import { openSqlSession, openTestService, type SqlSession, send, type TestService } from './delivery/test-service.ts'

/*
 * The guarantees of docs/live.md, by their numbers and in their words.
 */

interface Parts {
  readonly kind: DatabaseKind
  readonly url: string
  /** Two services over one database. */
  readonly first: TestService
  readonly second: TestService
  readonly session: SqlSession
  readonly foreignWriter: ForeignWriter
}

const isPostgres = ({ kind }: Parts): boolean => kind.name === 'postgres'
const marked = (mark: string) => ({ mark })

const guarantees: Readonly<Record<string, (parts: Parts) => Promise<void>>> = {
  async '1. Events are sent after the commit, and none for a change that was rolled back or refused.'(parts) {
    const { first, session } = parts
    const { id } = await first.send('POST', '/pet', marked('old'))
    const [pets, owners] = await Promise.all([first.listen('/pet'), first.listen('/owner')])
    const head = await first.service.changes.head()
    await session.run('begin')
    for (const mark of ['one', 'two']) await session.run(`update pet set mark = '${mark}' where id = ${id}`)
    // On SQLite no other transaction can write now; on PostgreSQL its events arrive.
    if (isPostgres(parts)) {
      await first.send('POST', '/pet', marked('meanwhile'))
      assert.deepEqual((await pets.take(1)).map(markOf), ['meanwhile'])
    }
    const logged = (await changesAfter(first.service.changes, head)).map((change) => change.after?.mark)
    assert.deepEqual(logged, isPostgres(parts) ? ['meanwhile'] : [])
    await session.run(`update pet set mark = 'three' where id = ${id}; commit`)
    await session.run(`begin; update pet set mark = 'undone' where id = ${id}; rollback`)
    await assert.rejects(first.send('POST', '/owner', { mark: 'refused', pets: [id as number, 99_999_999] }), / 4\d\d/)
    for (const path of ['/pet', '/owner']) await first.send('POST', path, marked('last'))
    assert.deepEqual((await untilMark(pets, 'last')).map(markOf), ['one', 'two', 'three', 'last'])
    assert.deepEqual((await untilMark(owners, 'last')).map(markOf), ['last'])
    await Promise.all([pets.close(), owners.close()])
  },

  async '1. Events are sent after the commit, and none for a change that was rolled back or refused. (One operation)'(
    parts,
  ) {
    // On SQLite every row that another program writes is an operation of its own.
    if (!isPostgres(parts)) return
    const { first, session } = parts
    await session.run(`insert into pet (id, mark, weight) values (801, 'a', 70), (802, 'b', 70), (803, 'c', 70)`)
    const [pets, heavy] = [await first.listen('/pet'), await first.listen('/pet?where={"weight":{">=":50}}')]
    await session.run(`begin;
      update pet set id = 800 where id = 801; update pet set id = 801 where id = 802; update pet set id = 802 where id = 800;
      update pet set weight = 1 where id = 803; delete from pet where id = 803;
      insert into pet (id, mark, weight) values (804, 'd', 70); delete from pet where id = 804;
      delete from pet where id = 801; insert into pet (id, mark, weight) values (801, 'e', 70);
      commit`)
    await first.send('POST', '/pet', { mark: 'last', weight: 70 })
    const expected = [
      ...['destroyed 801 a', 'destroyed 802 b', 'created 802 a', 'destroyed 803 c', 'created 801 e'],
      'created last',
    ]
    for (const stream of [pets, heavy]) {
      const events = await untilMark(stream, 'last')
      const words = events.map(({ verb, id, data, previous }) => {
        const { mark } = (data ?? previous) as JsonObject
        return mark === 'last' ? `${verb} ${mark}` : `${verb} ${id} ${mark}`
      })
      assert.deepEqual([...words].sort(), [...expected].sort())
      await stream.close()
    }
  },

  async '2. Events arrive in the order of the change log, those of one record in the order of its commits.'(parts) {
    const { first, second, session } = parts
    const [pet, tag] = [await first.send('POST', '/pet', {}), await first.send('POST', '/tag', {})]
    const head = await first.service.changes.head()
    const client = await second.follow('/pet?limit=1000', '/tag?limit=1000')
    for (let round = 0; round < 10; round++) {
      await first.send('PATCH', `/pet/${pet.id}`, marked(`${round} http`))
      await session.run(`update tag set mark = '${round} sql' where id = ${tag.id}`)
      await second.records.tag.create(marked(`${round}`))
      await session.run(
        `begin; update tag set mark = '${round}' where id = ${tag.id}; update pet set mark = '${round}' where id = ${pet.id}; commit`,
      )
      await first.records.pet.create(marked(`${round}`))
    }
    // All at once: the previous values of each event are those that the event before it left.
    const all = Array.from({ length: 10 }, (_, index) => marked(`at once ${index}`))
    await Promise.all(all.map((data, index) => (index % 2 ? first : second).send('PATCH', `/pet/${pet.id}`, data)))
    await second.send('PATCH', `/tag/${tag.id}`, marked('last'))
    const arrived = await client.until((_, event) => markOf(event) === 'last')
    const log = (await changesAfter(first.service.changes, head)).slice(0, -1)
    assert.deepEqual(
      arrived.map(([model, { verb, id, data }]) => [model, verb, id, data?.mark]),
      log.map(({ model, verb, id, after: is }) => [model, verb, id, is?.mark]),
    )
    const own = arrived.filter(([model, { id }]) => model === 'pet' && id === pet.id).map(([, event]) => event)
    for (const [index, { previous }] of own.slice(1).entries()) assert.equal(previous?.mark, markOf(own[index]))
  },

  async '3. Resuming is at-least-once and in order.'(parts) {
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

  async '4. A client that resumes from a position receives every event since then, or `reset`.'(parts) {
    const { first, second, session } = parts
    const stream = await first.listen('/pet')
    const begin = stream.lastEventId
    for (const mark of ['a', 'b', 'c', 'd']) {
      const { id } = await first.send('POST', '/pet', marked(mark))
      await session.run(`begin; update pet set weight = 1 where id = ${id}; update pet set weight = 2; commit`)
      await second.send('DELETE', `/pet/${id}`)
    }
    await first.send('POST', '/pet', marked('last'))
    /** Of the stream that received the operations one by one, and of two that read all of them at once. */
    const positions: (readonly [taken: number, id: string])[] = [[0, begin]]
    const received: JsonObject[] = []
    while (markOf(received.at(-1)) !== 'last') {
      const { id, data } = await stream.next()
      if (received.push(data) && id !== undefined) positions.push([received.length, id])
    }
    await stream.close()
    for (const service of [first, second]) {
      const again = await service.listen('/pet', begin)
      for (const [index, event] of received.entries()) {
        const { id, data } = await again.next()
        assert.deepEqual(data, event)
        if (id !== undefined) positions.push([index + 1, id])
      }
      await again.close()
    }
    const resumed = await Promise.all(positions.map(([, id]) => second.listen('/pet', id)))
    await first.send('POST', '/pet', marked('after all'))
    for (const [index, again] of resumed.entries()) {
      const arrived = await untilMark(again, 'after all')
      assert.deepEqual(arrived.slice(0, -1), received.slice(positions[index]?.[0]))
      await again.close()
    }
  },

  async '4. A client that resumes from a position receives every event since then, or `reset`. (`reset`)'(parts) {
    const { kind, first } = parts
    await using elsewhere = await kind.open()
    await using other = await openTestService(elsewhere.url)
    const stream = await first.listen('/pet')
    await stream.close()
    await first.send('POST', '/pet', marked('missed'))
    // Rows that an open transaction may need are not trimmed, and others use the same server.
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

  async '4. A client that resumes from a position receives every event since then, or `reset`. (A record that is gone)'(
    parts,
  ) {
    const { first } = parts
    const { id } = await first.send('POST', '/pet', {})
    const stream = await first.listen(`/pet/${id}`)
    await stream.close()
    await first.send('DELETE', `/pet/${id}`)
    do await first.service.changes.trim({ ageMs: 3_600_000, rows: 0 })
    while ((await first.service.changes.read(stream.lastEventId, 1)) !== 'reset')
    const resumed = await first.open(`/pet/${id}`, stream.lastEventId)
    const events = (await resumed.rest()).map(({ event, data, id }) => [event, data, id !== undefined])
    assert.deepEqual(
      events.map(([event]) => event),
      ['reset', 'destroyed'],
    )
    assert.deepEqual(events[1], ['destroyed', { model: 'pet', verb: 'destroyed', id }, true])
    assert.equal(resumed.isWhole, true)
    const again = await first.open(`/pet/${id}`, resumed.arrivedId)
    assert.equal(again.status, 404)
  },

  async '5. A subscription over a socket starts at the exact position of its read: no event is lost or repeated.'(
    parts,
  ) {
    const { first, second, foreignWriter } = parts
    const watching = { model: 'pet', isHeavy: false } as const
    const { id } = await first.send('POST', '/pet', marked('written often'))
    let isWriting = true
    const write = async (service: TestService) => {
      for (let round = 0; isWriting; round++) {
        const { id: other } = await service.send('POST', '/pet', { weight: round })
        await foreignWriter.write([['update pet set weight = ? where id = ?', [round, id as number]]])
        await service.send('PATCH', `/pet/${id}`, marked(`${round}`))
        if (round % 2) await foreignWriter.write([['delete from pet where id = ?', [other as number]]])
      }
    }
    const writing = Promise.all([write(first), write(second)])
    const clients: SailsClient[] = []
    const views: View[] = []
    const finding = [first, second].map(async (service) => {
      const old = await service.follow('/pet')
      const index = clients.push(old) - 1
      for (let round = 0; round < 15; round++) {
        const again = await find(old, queryOf(watching))
        for (const event of again.before) views[index]?.apply(event)
        views[index] = new View(watching, again.records, false)
        const fresh = await service.follow()
        views[clients.push(fresh) - 1] = new View(watching, (await find(fresh, queryOf(watching))).records, true)
      }
    })
    await Promise.all(finding).finally(() => {
      isWriting = false
    })
    await writing
    const truths: Truth[] = []
    await foreignWriter.fence('the end', (truth) => truths.push(truth))
    for (const [index, view] of views.entries()) {
      const client = clients[index] as SailsClient
      for (const event of await receivedUntil(client, ({ id }) => id === fenceId)) view.apply(event)
      view.compare(truths[0] as Truth)
    }
  },

  async '6. With a filter, a record that begins to match is `created`, and one that no longer matches is `destroyed`, without values.'(
    parts,
  ) {
    const { first, session } = parts
    const stream = await first.listen('/pet?weight=7')
    const { id } = await first.send('POST', '/pet', { mark: 'a', weight: 6 })
    await session.run(`update pet set weight = 7 where id = ${id}; update pet set weight = 8 where id = ${id}`)
    await first.send('PATCH', `/pet/${id}`, marked('unseen'))
    await first.send('POST', '/pet', { mark: 'last', weight: 7 })
    const [entered, left, last] = await stream.take(3)
    assert.deepEqual(entered, { model: 'pet', verb: 'created', id, data: { id, mark: 'a', weight: 7, owner: null } })
    assert.deepEqual(left, { model: 'pet', verb: 'destroyed', id })
    assert.equal(markOf(last), 'last')
    await stream.close()
  },

  async '7. Changes by other programs have the same events.'(parts) {
    const { first, second, session } = parts
    const client = await first.follow('/pet?limit=1000')
    const stream = await second.listen('/pet')
    const insert = (id: number, mark: string, verb = 'insert') =>
      `${verb} into pet (id, mark, weight) values (${id}, '${mark}', 70)`
    await session.run(`${insert(7001, 'one')}; ${insert(7002, 'two')}`)
    await session.run(`update pet set mark = 'both' where id in (7001, 7002)`)
    await session.run('delete from pet where id = 7001')
    // See databases.md: our triggers fire for replication as well, and `INSERT OR REPLACE` deletes without a trigger.
    if (isPostgres(parts)) await session.run('set session_replication_role = replica')
    if (isPostgres(parts)) await session.run('delete from pet where id = 7002')
    else await session.run(insert(7002, 'replaced', 'insert or replace'))
    await session.run(insert(7003, 'last'))
    const received = await untilMark(stream, 'last')
    const inWords = received.map(
      ({ verb, id, data, previous }) => `${verb} ${id} ${((data ?? previous) as JsonObject).mark}`,
    )
    assert.deepEqual(inWords, [
      ...['created 7001 one', 'created 7002 two', 'updated 7001 both', 'updated 7002 both', 'destroyed 7001 both'],
      isPostgres(parts) ? 'destroyed 7002 both' : 'created 7002 replaced',
      'created 7003 last',
    ])
    const arrived = await receivedUntil(client, ({ id }) => id === 7003)
    const withoutModel = ({ model: _, ...event }: JsonObject) => event
    assert.deepEqual(arrived, received.map(withoutModel))
    if (isPostgres(parts)) {
      const gone = new Promise((resolve) => client.socket.on('disconnect', resolve))
      await session.run('reset session_replication_role; truncate pet cascade')
      assert.equal((await stream.next()).event, 'reset')
      await gone
    }
    await stream.close()
  },

  // For hostile clients see test/attack/hostile-listeners.slow.test.ts.
  async '8. A consumer that is too slow receives `reset` or is disconnected; others are not delayed.'(parts) {
    const limits = [{ maxQueuedBytes: 100_000 }, { maxQueuedBytes: 100_000_000, maxWaitingBytes: 2_000_000 }]
    for (const limit of limits) {
      await using database = await parts.kind.open()
      await using service = await openTestService(database.url, limit)
      const [slow, quick] = [await service.listen('/pet'), await service.listen('/pet')]
      const client = await service.follow('/pet')
      const loop = service.loop()
      await loop.next()
      slow.pause()
      const marks = Array.from({ length: 60 }, (_, index) => `${index} ${'x'.repeat(300_000)}`)
      for (const mark of marks) {
        await service.send('POST', '/pet', { mark })
        assert.deepEqual((await quick.take(1)).map(markOf), [mark])
        await client.until((_, event) => markOf(event) === mark)
      }
      slow.resume()
      const received = [...(await slow.rest())]
      // With the budget of the process the connection may be closed before `reset` is sent.
      if (slow.isWhole || limit === limits[0]) assert.equal(received.pop()?.event, 'reset')
      const arrived = received.map(({ data }) => markOf(data))
      assert.ok(arrived.length < marks.length)
      assert.deepEqual(arrived, marks.slice(0, arrived.length))
      for (const mark of marks) assert.equal(markOf((await loop.next()).value), mark)
      await Promise.all([loop.return?.(), quick.close(), slow.close()])
    }
  },

  async '9. `destroyed` is sent once and ends all subscriptions to the record.'(parts) {
    const { first, second, session } = parts
    const [{ id }, other] = [await first.send('POST', '/pet', {}), await first.send('POST', '/pet', {})]
    const record = await first.listen(`/pet/${id}`)
    const recordClients = [await first.follow(`/pet/${id}`, `/pet/${other.id}`), await second.follow(`/pet/${id}`)]
    await recordClients[1]?.ask('get', `/pet/${other.id}`)
    const modelClient = await second.follow(`/pet?id=${id}`)
    await second.send('DELETE', `/pet/${id}`)
    await session.run(`insert into pet (id, mark, weight) values (${id}, 'a new one', 0)`)
    await first.send('PATCH', `/pet/${id}`, marked('another'))
    await first.send('DELETE', `/pet/${id}`)
    await first.send('PATCH', `/pet/${other.id}`, marked('last'))
    await first.send('POST', '/pet', marked('last'))
    const verbs = async (client: SailsClient) =>
      (await receivedUntil(client, (event) => markOf(event) === 'last')).map(({ verb }) => verb)
    for (const recordClient of recordClients) assert.deepEqual(await verbs(recordClient), ['destroyed', 'updated'])
    assert.deepEqual(await verbs(modelClient), ['destroyed', 'created', 'updated', 'destroyed', 'created'])
    const [end, ...more] = await record.rest()
    assert.deepEqual([end?.event, more, record.isWhole], ['destroyed', [], true])
  },

  async '10. A stop tells each client the position to continue from; after a crash clients resume as after any disconnection. (A stop)'(
    parts,
  ) {
    const { second, session, url } = parts
    const service = await openTestService(url)
    const stream = await service.listen('/pet')
    const loop = service.loop()
    await loop.next()
    const client = await service.follow('/pet')
    const gone = new Promise((resolve) => client.socket.on('disconnect', resolve))
    const end = loop.next()
    await service.service.close()
    await gone
    const [[arrived, ...more], { value: last }] = [await stream.rest(), await end]
    assert.deepEqual([arrived?.event, more, last?.verb], ['restart', [], 'restart'])
    await session.run(`insert into pet (id, mark, weight) values (10001, 'meanwhile', 0)`)
    for (const position of [arrived?.id, last?.position]) {
      const resumed = await second.listen('/pet', position)
      assert.deepEqual((await resumed.take(1)).map(markOf), ['meanwhile'])
      await resumed.close()
    }
  },

  async '10. A stop tells each client the position to continue from; after a crash clients resume as after any disconnection. (A crash)'(
    parts,
  ) {
    const { second, url } = parts
    await using server = new Server(url, false)
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
    const received = await stream.take(50)
    await pace.take(100)
    await server.end('SIGKILL')
    await Promise.all([...writing, stream.closed, pace.closed])
    const resumed = await second.listen('/pet', stream.lastEventId)
    await second.send('POST', '/pet', marked('last'))
    const marks = [...received, ...(await untilMark(resumed, 'last'))].map(markOf)
    assert.ok(acknowledged.every((mark) => marks.includes(mark)))
    // On PostgreSQL operations that were committed at the same time may be repeated.
    if (!isPostgres(parts)) assert.equal(marks.length, new Set(marks).size)
    await resumed.close()
  },
}

test('docs/live.md has the same guarantees', () => {
  const page = readFileSync(new URL('../../docs/live.md', import.meta.url), 'utf8')
  const written = page.matchAll(/^(\d+\.) \*\*([^*]+)\*\*/gm).map(([, number, words]) => `${number} ${words}`)
  const tested = Object.keys(guarantees).map((title) => title.replace(/ \([^)]+\)$/, ''))
  assert.deepEqual([...written], [...new Set(tested)])
})

for (const kind of databases.filter(({ name }) => name !== 'memory')) {
  describe(`the guarantees of events on ${kind.name}:`, { skip: kind.missing ?? false }, () => {
    let parts: Parts
    const opened = new AsyncDisposableStack()
    before(async () => {
      const { url } = opened.use(await kind.open())
      const [first, second] = [opened.use(await openTestService(url)), opened.use(await openTestService(url))]
      const [foreignWriter, session] = [opened.use(await openForeignWriter(url)), opened.use(await openSqlSession(url))]
      parts = { kind, url, first, second, foreignWriter, session }
    })
    after(() => opened.disposeAsync())
    for (const [words, proof] of Object.entries(guarantees)) test(words, () => proof(parts))
  })
}
