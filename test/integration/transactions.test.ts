import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createService, type RuleContext, type Service } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

const models = {
  account: {
    attributes: {
      createdAt: false,
      updatedAt: false,
      email: { type: 'string', required: true, unique: true },
      balance: { type: 'number', defaultsTo: 0 },
      entries: { collection: 'entry', via: 'account' },
    },
    access: {
      read: ({ user }: RuleContext) => (user ? { email: { '!=': 'hidden@x' } } : { balance: { '>': 0 } }),
      create: true,
      update: true,
      destroy: false,
    },
  },
  entry: {
    attributes: { createdAt: false, updatedAt: false, amount: { type: 'number' }, account: { model: 'account' } },
    access: { read: true, create: true, update: true, destroy: true },
  },
} as const

const limits = { transactionTimeoutMs: 20_000, busyTimeoutMs: 20_000 }
const code = (expected: string) => (error: unknown) => (error as { code?: string }).code === expected
const gate = () => Promise.withResolvers<void>()

for (const database of databases) {
  describe(`transactions on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Service<typeof models>
    const records = () => service.system.records
    const emails = async () => (await records().account.find({ sort: 'id' })).data.map(({ email }) => email)

    before(async () => {
      opened = await database.open()
      service = (await createService({ models, database: opened.url, limits, access: 'public' } as never)) as never
    })
    beforeEach(async () => {
      for (const { id } of (await records().entry.find()).data) await records().entry.destroy(id)
      for (const { id } of (await records().account.find()).data) await records().account.destroy(id)
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    test('what resolves is committed, as one operation of the log', async () => {
      const head = await service.changes.head()
      const answer = await service.system.transaction(async (tx) => {
        const account = await tx.account.create({ email: 'a@x' })
        await tx.entry.create({ amount: 5, account: account.id })
        await tx.account.update(account.id, { balance: 5 })
        assert.deepEqual((await tx.account.find({ where: { balance: 5 } })).data.length, 1)
        return account.id
      })
      assert.equal((await records().account.findOne(answer))?.balance, 5)
      const batch = await service.changes.read(head, 100)
      const changes = batch === 'reset' ? [] : batch.changes
      assert.equal(new Set(changes.map(({ operation }) => operation)).size, 1)
      assert.equal(changes.length, 3)
    })

    test('what rejects is rolled back, with the same error', async () => {
      const own = new Error('no')
      const failing = service.system.transaction(async (tx) => {
        await tx.account.create({ email: 'a@x', entries: [{ amount: 1 }] as never })
        throw own
      })
      await assert.rejects(failing, (error) => error === own)
      assert.deepEqual(await emails(), [])
      assert.equal(await records().entry.count(), 0)
    })

    test('a write that fails fails the transaction, also when its error is caught', async () => {
      await records().account.create({ email: 'taken@x' })
      const failing = service.system.transaction(async (tx) => {
        await tx.account.create({ email: 'a@x' })
        await tx.account.create({ email: 'taken@x' }).catch(() => {})
        await tx.account.create({ email: 'b@x' }).catch(() => {})
      })
      await assert.rejects(failing, code('E_INVALID_ATTRIBUTES'))
      assert.deepEqual(await emails(), ['taken@x'])
    })

    test('an error has its code within the transaction, and reveals no hidden record', async () => {
      await records().account.create({ email: 'taken@x' })
      await records().account.create({ email: 'hidden@x' })
      const caught: unknown[] = []
      const attempt = (actor: ReturnType<typeof service.as>, email: string) =>
        actor.transaction(async (tx) => {
          await tx.account.create({ email }).catch((error: unknown) => caught.push((error as { code: string }).code))
        })
      await assert.rejects(attempt(service.system, 'taken@x'), code('E_INVALID_ATTRIBUTES'))
      await assert.rejects(attempt(service.as({ id: 1 }), 'taken@x'), code('E_INVALID_ATTRIBUTES'))
      await assert.rejects(attempt(service.as({ id: 1 }), 'hidden@x'), code('E_CONFLICT'))
      await assert.rejects(
        service.system.transaction((tx) => tx.entry.create({ account: 99_999 })),
        code('E_INVALID_ATTRIBUTES'),
      )
      assert.deepEqual(caught, ['E_INVALID_ATTRIBUTES', 'E_CONFLICT', 'E_CONFLICT'])
    })

    test('operations that were not awaited belong to it', async () => {
      await service.system.transaction((tx) => {
        void tx.account.create({ email: 'a@x' })
      })
      assert.deepEqual(await emails(), ['a@x'])
    })

    test('a write that was not awaited and fails fails it, and is no unhandled rejection', async () => {
      await records().account.create({ email: 'taken@x' })
      for (const [begin, expected] of [
        [(tx) => tx.account.create({ email: 'taken@x' }), 'E_INVALID_ATTRIBUTES'],
        [(tx) => tx.account.create([] as never), 'E_BAD_BODY'],
        [(tx) => tx.account.update({} as never, {}), 'E_BAD_REQUEST'],
        [(tx) => tx.account.destroyMany({} as never), 'E_BAD_REQUEST'],
        [(tx) => tx.account.add(1, 'nosuch' as never, 1 as never), 'E_BAD_REQUEST'],
      ] as readonly [(tx: typeof service.system.records) => Promise<unknown>, string][]) {
        const failing = service.system.transaction(async (tx) => {
          await tx.account.create({ email: 'a@x' })
          void begin(tx as never)
        })
        await assert.rejects(failing, code(expected))
      }
      assert.deepEqual(await emails(), ['taken@x'])
    })

    test('other records of the service are refused within it, and allowed again after it', async () => {
      let later: (() => Promise<unknown>) | undefined
      await service.system.transaction(async (tx) => {
        await assert.rejects(records().account.find(), code('E_IN_TRANSACTION'))
        await assert.rejects(records().account.create({ email: 'b@x' }), code('E_IN_TRANSACTION'))
        await assert.rejects(service.as(null).records.account.count(), code('E_IN_TRANSACTION'))
        await assert.rejects(
          service.system.transaction(() => {}),
          code('E_IN_TRANSACTION'),
        )
        assert.throws(() => (tx.account as never as { live(): void }).live(), code('E_IN_TRANSACTION'))
        assert.throws(() => records().account.live(), code('E_IN_TRANSACTION'))
        assert.throws(() => records().account.liveQuery(), code('E_IN_TRANSACTION'))
        later = () => records().account.create({ email: 'later@x' })
        setImmediate(() => {})
      })
      await later?.()
      assert.deepEqual(await emails(), ['later@x'])
    })

    test('another service may be used within it', async () => {
      await using other = await createService({ models: { thing: { attributes: {} } }, database: 'memory:' })
      await service.system.transaction(async (tx) => {
        await other.system.records.thing.create({})
        await tx.account.create({ email: 'a@x' })
      })
      assert.equal(await other.system.records.thing.count(), 1)
    })

    test('its records cannot be used after its end', async () => {
      const kept = await service.system.transaction((tx) => tx.account)
      await assert.rejects(kept.create({ email: 'a@x' }), code('E_TRANSACTION_ENDED'))
      await assert.rejects(kept.find(), code('E_TRANSACTION_ENDED'))
    })

    test('its writes are not seen before the commit, and other reads do not wait', async () => {
      await records().account.create({ email: 'old@x' })
      const written = gate()
      const seen = gate()
      const transaction = service.system.transaction(async (tx) => {
        await tx.account.create({ email: 'new@x' })
        written.resolve()
        await seen.promise
      })
      await written.promise
      assert.deepEqual(await emails(), ['old@x'])
      seen.resolve()
      await transaction
      assert.deepEqual(await emails(), ['old@x', 'new@x'])
    })

    test('a transaction that is rolled back takes no other write with it', async () => {
      const written = gate()
      const queued = gate()
      const failing = service.system.transaction(async (tx) => {
        await tx.account.create({ email: 'a@x' })
        written.resolve()
        await queued.promise
        throw new Error('no')
      })
      await written.promise
      const others = [records().account.create({ email: 'b@x' }), records().account.create({ email: 'c@x' })]
      queued.resolve()
      await assert.rejects(failing, /no/)
      await Promise.all(others)
      assert.deepEqual((await emails()).toSorted(), ['b@x', 'c@x'])
    })

    test('concurrent transactions have the effect of a sequence', async () => {
      const { id } = await records().account.create({ email: 'a@x' })
      const increment = () =>
        service.system.transaction(async (tx) => {
          const account = await tx.account.findOne(id)
          await tx.account.update(id, { balance: (account?.balance ?? 0) + 1 })
        })
      await Promise.all(Array.from({ length: 12 }, increment))
      assert.equal((await records().account.findOne(id))?.balance, 12)
    })

    test('two transactions that read what the other writes do not both commit on what they read', async () => {
      for (const email of ['a@x', 'b@x']) await records().account.create({ email, balance: 1 })
      const spend = (email: string) =>
        service.system.transaction(async (tx) => {
          const { data } = await tx.account.find()
          const total = data.reduce((sum, { balance }) => sum + (balance ?? 0), 0)
          const own = data.find((account) => account.email === email)
          if (total > 1 && own) await tx.account.update(own.id, { balance: 0 })
        })
      await Promise.all([spend('a@x'), spend('b@x')])
      const { data } = await records().account.find()
      assert.equal(
        data.reduce((sum, { balance }) => sum + (balance ?? 0), 0),
        1,
      )
    })

    test('rules hold within it, and a hidden record is not revealed', async () => {
      await records().account.create({ email: 'hidden@x', balance: 0 })
      const poor = await records().account.create({ email: 'poor@x', balance: 0 })
      const anonymous = service.as(null)
      await anonymous.transaction(async (tx) => {
        assert.deepEqual(await tx.account.find(), { data: [], next: null })
        assert.equal(await tx.account.findOne(poor.id), undefined)
      })
      await assert.rejects(
        anonymous.transaction((tx) => tx.account.update(poor.id, { balance: 9 })),
        code('E_NO_SUCH_RECORD'),
      )
      await assert.rejects(
        service.as({ id: 1 }).transaction((tx) => tx.account.destroy(poor.id)),
        code('E_FORBIDDEN'),
      )
      const taken = (email: string) => service.as({ id: 1 }).transaction((tx) => tx.account.create({ email }))
      await assert.rejects(taken('poor@x'), code('E_INVALID_ATTRIBUTES'))
      await assert.rejects(taken('hidden@x'), code('E_CONFLICT'))
    })

    test('on an embedded database other writes wait for it no longer than for another program', {
      skip: database.name !== 'sqlite' && 'only SQLite is embedded',
    }, async () => {
      await using other = await database.open()
      await using slow = await createService({
        models: { thing: { attributes: {} } },
        database: other.url,
        limits: { busyTimeoutMs: 50, transactionTimeoutMs: 60_000 },
      })
      const started = gate()
      const end = gate()
      const transaction = slow.system.transaction(async (tx) => {
        await tx.thing.create({})
        started.resolve()
        await end.promise
      })
      await started.promise
      await assert.rejects(slow.system.records.thing.create({}), code('E_UNAVAILABLE'))
      end.resolve()
      await transaction
      await slow.system.records.thing.create({})
      assert.equal(await slow.system.records.thing.count(), 2)
    })

    test('on an embedded database its reads may block the process for a limited time', {
      skip: database.name !== 'sqlite' && 'only SQLite is embedded',
    }, async () => {
      await using other = await database.open()
      await using service = await createService({
        models: { thing: { attributes: { name: { type: 'string' } } } },
        database: other.url,
        limits: { maxTransactionBlockMs: 0 },
      })
      const { thing } = service.system.records
      await thing.createMany(Array.from({ length: 200 }, (_, index) => ({ name: `thing ${index}` })))
      const scan = { where: { name: { contains: 'nothing' } } }
      await assert.rejects(
        service.system.transaction(async (tx) => {
          await tx.thing.update(1, { name: 'changed' })
          return tx.thing.find(scan)
        }),
        code('E_TIMEOUT'),
      )
      assert.deepEqual((await thing.find(scan)).data, [])
      const early = await service.system.transaction(async (tx) => {
        const { data } = await tx.thing.find({ where: { name: { contains: 'thing 19' } } })
        await tx.thing.update(1, { name: `${data.length}` })
        return data.length
      })
      assert.equal(early, 11, 'before it writes, its reads are repeated in a reader process')
      const items = [
        { method: 'POST', url: '/thing', body: {} },
        { method: 'GET', url: '/thing?name[contains]=nothing' },
      ]
      const answer = await service.fetch(
        new Request('http://x/batch', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(items),
        }),
      )
      assert.equal(answer.status, 503, await answer.text())
      await service.system.transaction((tx) => tx.thing.create({ name: 'new' }))
      assert.equal(await thing.count(), 201)
    })

    const unlimited = database.name === 'memory' && 'a write in memory runs no statements'
    test('a write of many statements ends at its time limit, and changes nothing', { skip: unlimited }, async () => {
      await using other = await database.open()
      await using slow = await createService({
        models: {
          thing: { attributes: { name: { type: 'string' }, box: { model: 'box' } } },
          box: { attributes: { things: { collection: 'thing', via: 'box' } } },
        },
        database: other.url,
        limits: { writeTimeoutMs: 1 },
      })
      const names = Array.from({ length: 800 }, (_, index) => ({ name: `n${index}` }))
      const post = async (path: string, body: unknown) => {
        const headers = { 'content-type': 'application/json' }
        const request = new Request(`http://x/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
        const answer = await slow.fetch(request)
        return { status: answer.status, limit: ((await answer.json()) as { limit?: string }).limit }
      }
      const ended = { status: 503, limit: 'writeTimeoutMs' }
      assert.deepEqual(await post('thing', names), ended)
      assert.deepEqual(await post('box', { things: names }), ended)
      assert.equal(await slow.system.records.thing.count(), 0)
      assert.equal(await slow.system.records.box.count(), 0)
    })

    test('one that waits for something else ends at its time limit', async () => {
      await using other = await database.open()
      await using slow = await createService({
        models: { thing: { attributes: { name: { type: 'string' } } } },
        database: other.url,
        limits: { transactionTimeoutMs: 100 },
      })
      const late = gate()
      let afterwards: Promise<unknown> = Promise.resolve()
      const waiting = slow.system.transaction(async (tx) => {
        await tx.thing.create({ name: 'early' })
        afterwards = late.promise.then(() => tx.thing.create({ name: 'late' }))
        await new Promise<void>(() => {})
      })
      await assert.rejects(waiting, code('E_TIMEOUT'))
      late.resolve()
      await assert.rejects(afterwards)
      await slow.system.records.thing.create({ name: 'next' })
      const { data } = await slow.system.records.thing.find()
      assert.deepEqual(
        data.map(({ name }) => name),
        ['next'],
      )
    })
  })
}
