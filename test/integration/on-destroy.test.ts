import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { ConfigError, createService, type Service } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

const plain = { createdAt: false, updatedAt: false } as const
const models = {
  customer: { attributes: { ...plain, name: { type: 'string' }, orders: { collection: 'order', via: 'customer' } } },
  order: {
    attributes: {
      ...plain,
      customer: { model: 'customer', required: true, onDestroy: 'cascade' },
      lines: { collection: 'line', via: 'order' },
      tags: { collection: 'tag', via: 'orders' },
      /** Closes a cycle of models: an order and its first line refer to each other. */
      firstLine: { model: 'line' },
    },
    access: { read: true, create: true, update: true, destroy: ({ user }: { user: unknown }) => user !== null },
  },
  line: {
    attributes: {
      ...plain,
      order: { model: 'order', required: true, onDestroy: 'cascade' },
      product: { model: 'product', onDestroy: 'restrict' },
      note: { model: 'note', onDestroy: 'setNull' },
    },
    access: { read: false },
  },
  product: { attributes: { ...plain, name: { type: 'string' } } },
  note: { attributes: { ...plain, text: { type: 'string' } } },
  tag: { attributes: { ...plain, name: { type: 'string' }, orders: { collection: 'order', via: 'tags' } } },
  folder: { attributes: { ...plain, name: { type: 'string' }, parent: { model: 'folder', onDestroy: 'cascade' } } },
  thread: { attributes: { ...plain, comments: { collection: 'comment', via: 'thread' } } },
  comment: {
    attributes: {
      ...plain,
      thread: { model: 'thread', required: true, onDestroy: 'cascade' },
      replyTo: { model: 'comment', onDestroy: 'restrict' },
    },
  },
  topic: { attributes: { ...plain, posts: { collection: 'post', via: 'topic' } } },
  post: {
    attributes: {
      ...plain,
      topic: { model: 'topic', required: true, onDestroy: 'cascade' },
      replyTo: { model: 'post', onDestroy: 'restrict' },
    },
    hooks: {
      within: {
        update: ({ record }: { record: { id: number } }) => void hooked.push(['update', record.id]),
        destroy: ({ previous }: { previous: { id: number; replyTo: number | null } }) =>
          void hooked.push(['destroy', previous.id, previous.replyTo]),
      },
    },
  },
  branch: {
    attributes: {
      ...plain,
      topic: { model: 'topic', onDestroy: 'cascade' },
      parent: { model: 'branch', onDestroy: 'cascade' },
      copyOf: { model: 'branch', onDestroy: 'cascade' },
      next: { model: 'branch' },
    },
    hooks: {
      within: {
        update: ({ record }: { record: { id: number } }) => void hooked.push(['update', record.id]),
        destroy: ({ previous }: { previous: Branch }) =>
          void hooked.push([previous.id, previous.parent, previous.copyOf, previous.next]),
      },
    },
  },
  left: { attributes: { ...plain, right: { model: 'right', onDestroy: 'cascade' } } },
  right: { attributes: { ...plain, left: { model: 'left', onDestroy: 'cascade' } } },
} as const

interface Branch {
  readonly id: number
  readonly parent: number | null
  readonly copyOf: number | null
  readonly next: number | null
}

let hooked: unknown[] = []

const code = (expected: string) => (error: unknown) => (error as { code?: string }).code === expected

for (const database of databases) {
  describe(`onDestroy on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    // biome-ignore lint/suspicious/noExplicitAny: the rules of two models are not typed here
    let service: Service<any>
    // biome-ignore lint/suspicious/noExplicitAny: as above
    let records: any

    before(async () => {
      opened = await database.open()
      service = (await createService({
        models: models as never,
        database: opened.url,
        limits: { maxAffected: 300 },
      })) as never
      records = service.system.records
    })
    beforeEach(async () => {
      for (const model of ['customer', 'folder', 'thread', 'left', 'right', 'product', 'note', 'tag'])
        await records[model].destroyMany({ where: { id: { '!=': null } } })
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    async function events(work: () => Promise<unknown>): Promise<readonly string[]> {
      const head = await service.changes.head()
      await work()
      const batch = await service.changes.read(head, 1000)
      assert.ok(batch !== 'reset')
      assert.ok(new Set(batch.changes.map(({ operation }) => operation)).size <= 1, 'one operation')
      return batch.changes.map(({ model, verb }) => `${model} ${verb}`)
    }

    async function sale() {
      const product = await records.product.create({ name: 'Bread' })
      const note = await records.note.create({ text: 'fresh' })
      const customer = await records.customer.create({ name: 'Ann' })
      const order = await records.order.create({ customer: customer.id, tags: [{ name: 'new' }] })
      const line = await records.line.create({ order: order.id, product: product.id, note: note.id })
      return { product, note, customer, order, line }
    }

    test('cascade destroys what refers to the record, and what refers to that, with an event for each', async () => {
      const { customer, order, line } = await sale()
      await records.order.update(order.id, { firstLine: line.id })
      const found = await events(() => records.customer.destroy(customer.id))
      for (const expected of ['customer destroyed', 'order destroyed', 'line destroyed'])
        assert.equal(found.filter((event) => event === expected).length, 1, found.join())
      assert.equal(await records.order.count(), 0)
      assert.equal(await records.line.count(), 0)
      assert.deepEqual(await records.tag.related((await records.tag.find()).data[0].id, 'orders'), {
        data: [],
        next: null,
      })
    })

    test('setNull clears the reference, and restrict refuses', async () => {
      const { product, note, line } = await sale()
      await assert.rejects(records.product.destroy(product.id), code('E_CONFLICT'))
      await assert.rejects(records.product.destroyMany({ where: { name: 'Bread' } }), code('E_CONFLICT'))
      assert.deepEqual(await events(() => records.note.destroy(note.id)), ['line updated', 'note destroyed'])
      assert.equal((await records.line.findOne(line.id)).note, null)
    })

    test('of requests that destroy a record at once one does, and answers it as it was at its end', async () => {
      const { note } = records
      for (let round = 0; round < 10; round++) {
        const { id } = await note.create({ text: 'first' })
        const [changed, ...destroyed] = await Promise.allSettled([
          note.update(id, { text: 'second' }),
          ...Array.from({ length: 4 }, () => note.destroy(id)),
        ])
        const answers = destroyed.filter(({ status }) => status === 'fulfilled')
        assert.equal(answers.length, 1)
        const expected = changed.status === 'fulfilled' ? 'second' : 'first'
        assert.equal((answers[0] as PromiseFulfilledResult<{ text: string }>).value.text, expected)
      }
    })

    test('what is destroyed as well does not restrict', async () => {
      const { product, order } = await sale()
      await records.line.updateMany({ where: { order: order.id } }, { product: product.id })
      await records.order.destroy(order.id)
      await records.product.destroy(product.id)
      assert.equal(await records.product.count(), 0)
    })

    test('records of one model that are destroyed together do not restrict each other', async () => {
      const [thread, other] = await records.thread.createMany([{}, {}])
      const first = await records.comment.create({ thread: thread.id })
      // More than are deleted by one statement.
      const replies = Array.from({ length: 120 }, () => ({ thread: thread.id, replyTo: first.id }))
      const [reply] = await records.comment.createMany(replies)
      await records.comment.update(first.id, { replyTo: reply.id })
      const elsewhere = await records.comment.create({ thread: other.id, replyTo: reply.id })
      await assert.rejects(records.thread.destroy(thread.id), code('E_CONFLICT'))
      await records.comment.update(elsewhere.id, { replyTo: null })
      const found = await events(() => records.thread.destroy(thread.id))
      assert.equal(found.filter((event) => event === 'comment destroyed').length, 121)
      assert.equal(await records.comment.count(), 1)

      const last = await records.comment.create({ thread: other.id, replyTo: elsewhere.id })
      await assert.rejects(records.comment.destroy(elsewhere.id), code('E_CONFLICT'))
      await records.comment.destroyMany({ where: { id: [elsewhere.id, last.id] } })
      assert.equal(await records.comment.count(), 0)
    })

    test('what restricts records that are destroyed together is counted once, and its hooks see it as it was', async () => {
      const topic = await records.topic.create({})
      const first = await records.post.create({ topic: topic.id })
      const replies = await records.post.createMany(
        Array.from({ length: 200 }, () => ({ topic: topic.id, replyTo: first.id })),
      )
      await records.post.update(first.id, { replyTo: replies[0].id })
      hooked = []
      await records.topic.destroy(topic.id)
      const byId = (a: unknown, b: unknown) => Number((a as number[])[1]) - Number((b as number[])[1])
      assert.deepEqual(
        hooked.toSorted(byId),
        [[first.id, replies[0].id], ...replies.map(({ id }: { id: number }) => [id, first.id])].map((post) => [
          'destroy',
          ...post,
        ]),
      )
    })

    for (const [what, destroy] of [
      ['by a condition', () => records.branch.destroyMany({ where: { id: { '!=': null } }, count: true })],
      ['by their first one', () => records.branch.destroy(1)],
      ['by another record', () => records.topic.destroyMany({ where: { id: { '!=': null } } })],
    ] as const)
      test(`the hooks of records of one model that refer to each other see each as it was: ${what}`, async () => {
        const topic = await records.topic.create({})
        const branch = (id: number, parent: number | null) => ({ id, topic: topic.id, parent })
        await records.branch.createMany([branch(1, null), branch(2, 1), branch(3, 2)])
        await records.branch.createMany(Array.from({ length: 240 }, (_, index) => branch(4 + index, 3 + (index % 2))))
        await records.branch.update(2, { copyOf: 3, next: 4 })
        await records.branch.update(1, { next: 200 })
        await records.branch.update(240, { next: 239 })
        const { data } = await records.branch.find({ sort: 'id', limit: 1000 })
        hooked = []
        await destroy()
        assert.equal(await records.branch.count(), 0)
        const byId = (a: unknown, b: unknown) => Number((a as number[])[0]) - Number((b as number[])[0])
        assert.deepEqual(
          hooked.toSorted(byId),
          data.map(({ id, parent, copyOf, next }: Branch) => [id, parent, copyOf, next]),
        )
      })

    test('a tree of one model is destroyed from any of its records', async () => {
      const root = await records.folder.create({ name: 'root' })
      let parent = root
      for (let depth = 0; depth < 4; depth++) {
        const [next] = await records.folder.createMany([
          { name: `a${depth}`, parent: parent.id },
          { name: `b${depth}`, parent: parent.id },
        ])
        parent = next
      }
      const a1 = (await records.folder.find({ where: { name: 'a1' } })).data[0]
      assert.equal((await events(() => records.folder.destroy(a1.id))).length, 5)
      assert.equal((await events(() => records.folder.destroy(root.id))).length, 4)
    })

    test('cycles are destroyed, of one record, of one model, and of two', async () => {
      const self = await records.folder.create({ name: 'self' })
      await records.folder.update(self.id, { parent: self.id })
      const [a, b] = await records.folder.createMany([{ name: 'a' }, { name: 'b' }])
      await records.folder.update(a.id, { parent: b.id })
      await records.folder.update(b.id, { parent: a.id })
      const left = await records.left.create({})
      const right = await records.right.create({ left: left.id })
      await records.left.update(left.id, { right: right.id })
      await records.folder.destroy(self.id)
      await records.folder.destroy(a.id)
      await records.left.destroy(left.id)
      for (const model of ['folder', 'left', 'right']) assert.equal(await records[model].count(), 0)
    })

    test('several at once, of which one refers to another', async () => {
      const root = await records.folder.create({ name: 'x' })
      const child = await records.folder.create({ name: 'x', parent: root.id })
      await records.folder.create({ name: 'y', parent: child.id })
      assert.equal((await events(() => records.folder.destroyMany({ where: { name: 'x' } }))).length, 3)
    })

    test('more than maxAffected are refused, and nothing is destroyed', async () => {
      const root = await records.folder.create({ name: 'root' })
      for (let count = 0; count < 301; count += 100)
        await records.folder.createMany(Array.from({ length: 100 }, () => ({ parent: root.id })))
      await assert.rejects(records.folder.destroy(root.id), code('E_CONFLICT'))
      assert.equal(await records.folder.count(), 401)
      for (const { id } of (await records.folder.find({ limit: 401, where: { id: { '!=': root.id } } })).data.slice(
        0,
        150,
      ))
        await records.folder.destroy(id)
      assert.equal((await events(() => records.folder.destroy(root.id))).length, 251)
    })

    test('what a cascade does to other records needs no right, and the record itself does', async () => {
      const { customer, order } = await sale()
      await assert.rejects(
        service.as(null).transaction((tx) => (tx as never as typeof records).order.destroy(order.id)),
        code('E_FORBIDDEN'),
      )
      assert.equal(await records.line.count(), 1)
      await (service.as({ id: 1 }).records as never as typeof records).customer.destroy(customer.id)
      assert.equal(await records.line.count(), 0)
    })
  })
}

test('definitions that contradict themselves are refused at start', async () => {
  const wrong = [
    [{ type: 'string', onDestroy: 'cascade' }, /`onDestroy` needs a `model`/],
    [{ model: 'a', required: true, onDestroy: 'setNull' }, /needs an attribute that allows null/],
    [{ collection: 'a', onDestroy: 'cascade' }, /`onDestroy` cannot be used with `collection`/],
    [{ model: 'a', onDestroy: 'ignore' }, /'cascade', 'setNull', 'restrict'/],
  ] as const
  for (const [attribute, message] of wrong)
    await assert.rejects(
      createService({
        database: 'memory:',
        models: { a: { attributes: {} }, b: { attributes: { x: attribute } } },
      } as never),
      (error: ConfigError) => error instanceof ConfigError && message.test(error.message),
    )
})
