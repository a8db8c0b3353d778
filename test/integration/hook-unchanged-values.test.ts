import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* A hook before an update that returns the whole record writes what it changes, not the rest as it was before. */

// biome-ignore lint/suspicious/noExplicitAny: the types of records are not the subject
type Any = any

const whole = (values: Any, { previous }: Any): unknown => ({ ...previous, ...values })
let beforeUpdate = whole

const models: Any = {
  person: {
    attributes: {
      wrote: { collection: 'doc', via: 'author' },
      edited: { collection: 'doc', via: 'editor' },
    },
  },
  doc: {
    attributes: {
      title: { type: 'string' },
      place: { type: 'string' },
      tags: { type: 'json' },
      due: { type: 'datetime' },
      author: { model: 'person' },
      editor: { model: 'person' },
    },
    hooks: { before: { update: (values: Any, context: Any) => beforeUpdate(values, context) } },
  },
}

for (const database of databases) {
  describe(`values that a hook does not change on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Any
    let ids: { readonly ann: number; readonly bob: number; readonly doc: number }
    before(async () => {
      opened = await database.open()
      service = await createService({ database: opened.url, models })
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })
    beforeEach(async () => {
      beforeUpdate = whole
      const { person, doc } = service.system.records
      const { id: ann } = await person.create({})
      const { id: bob } = await person.create({})
      const values = { title: 'a', place: 'x', tags: ['t'], due: '1970-01-01T00:00:00.000Z', author: ann, editor: ann }
      ids = { ann, bob, doc: (await doc.create(values)).id }
    })
    const stored = async (...names: readonly string[]) => {
      const doc = await service.system.records.doc.findOne(ids.doc)
      return names.map((name) => doc[name])
    }

    test('both changes of a batch are kept', async () => {
      const patch = (body: object) => ({ method: 'PATCH', url: `/doc/${ids.doc}`, body })
      const response = await service.fetch(
        new Request('http://localhost/batch', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify([patch({ title: 'b' }), patch({ place: 'y' })]),
        }),
      )
      assert.equal(response.status, 200)
      assert.deepEqual(await stored('title', 'place', 'tags'), ['b', 'y', ['t']])
    })

    test('what another request changes meanwhile is kept', async () => {
      beforeUpdate = async (values, context) => {
        beforeUpdate = whole
        const change = { title: 'b', tags: ['t', 'u'], due: '1970-01-01T00:00:01.000Z' }
        await service.system.records.doc.update(ids.doc, change)
        return whole(values, context)
      }
      await service.system.records.doc.update(ids.doc, { place: 'y' })
      const changed = ['b', 'y', ['t', 'u'], '1970-01-01T00:00:01.000Z']
      assert.deepEqual(await stored('title', 'place', 'tags', 'due'), changed)
    })

    test('two references of a record are cleared, and set, by one write', async () => {
      const { person } = service.system.records
      await person.update(ids.ann, { wrote: [], edited: [] })
      assert.deepEqual(await stored('author', 'editor'), [null, null])
      await person.update(ids.bob, { wrote: [ids.doc], edited: [ids.doc] })
      assert.deepEqual(await stored('author', 'editor'), [ids.bob, ids.bob])
      const { id } = await person.create({ wrote: [ids.doc], edited: [ids.doc] })
      assert.deepEqual(await stored('author', 'editor'), [id, id])
      await person.destroy(id)
      assert.deepEqual(await stored('author', 'editor'), [null, null])
    })

    test('what a request gives is written also when it is as before', async () => {
      beforeUpdate = async () => {
        beforeUpdate = whole
        await service.system.records.doc.update(ids.doc, { title: 'b' })
      }
      await service.system.records.doc.update(ids.doc, { title: 'a' })
      assert.deepEqual(await stored('title'), ['a'])
    })

    test('what a hook changes in the previous record is written', async () => {
      beforeUpdate = (values, { previous }) => {
        previous.tags.push('u')
        return Object.assign(previous, { title: 'b' }, values)
      }
      await service.system.records.doc.update(ids.doc, { place: 'y' })
      assert.deepEqual(await stored('title', 'place', 'tags'), ['b', 'y', ['t', 'u']])
    })
  })
}
