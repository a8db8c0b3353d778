import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../src/client.ts'
import { createService } from '../../src/index.ts'
import { eventually } from './eventually.ts'

const models = {
  list: { attributes: { name: { type: 'string' } } },
  task: {
    attributes: {
      title: { type: 'string', required: true },
      done: { type: 'boolean', defaultsTo: false },
      list: { model: 'list' },
    },
  },
} as const

/** A client without types, as in a page without TypeScript. */
interface Api {
  // biome-ignore lint/suspicious/noExplicitAny: calls that a compiler would refuse
  readonly [name: string]: any
}

/** A service with three tasks that were created one after another, and its client. */
async function open() {
  const service = await createService({ database: 'sqlite::memory:', models })
  const { url } = await service.listen(0)
  const { list, task } = service.system.records
  for (const name of ['Garden', 'Kitchen']) await list.create({ name })
  for (const title of ['a', 'b', 'c']) {
    await task.create({ title, list: 1 })
    await sleep(2)
  }
  const api = createClient({ url }) as Api
  return {
    api,
    async [Symbol.asyncDispose]() {
      api.close()
      await service.close()
    },
  }
}

interface Row {
  readonly id: number
  readonly title?: string
}

const optimistic = { optimistic: true }

describe('the rows that are displayed for a write', () => {
  /** `atOnce`: what is displayed when the write was called. `finally`: when its answer and the stream have come. */
  interface Case {
    readonly query?: object
    readonly write: (api: Api) => Promise<unknown>
    readonly atOnce: string
    readonly finally?: string
  }
  const cases: Readonly<Record<string, Case>> = {
    'a created record is the latest one': {
      query: { where: { done: false }, sort: 'createdAt DESC', limit: 3 },
      write: ({ task }) => task.create({ title: 'new', done: false }, optimistic),
      atOnce: 'new,c,b',
    },
    'also in ascending order': {
      query: { sort: 'createdAt' },
      write: ({ task }) => task.create({ title: 'new' }, optimistic),
      atOnce: 'a,b,c,new',
    },
    'and where its time decides whether it is in the list': {
      query: { where: { createdAt: { '>': '2000-01-01' } }, sort: 'id' },
      write: ({ task }) => task.create({ title: 'new' }, optimistic),
      atOnce: 'a,b,c,new',
    },
    'a changed record is the one that was changed last': {
      query: { sort: 'updatedAt DESC' },
      write: ({ task }) => task.update(1, { title: 'x' }, optimistic),
      atOnce: 'x,c,b',
    },
    'a record leaves a list whose rows embed the record that the condition names': {
      query: { where: { list: 1 }, populate: ['list'] },
      write: ({ task }) => task.update(2, { list: 2 }, optimistic),
      atOnce: 'a,c',
    },
    'undefined in a condition is no condition': {
      query: { where: { list: undefined, done: undefined } },
      write: ({ task }) => task.update(1, { title: 'x' }, optimistic),
      atOnce: 'x,b,c',
    },
    'undefined among the values changes nothing': {
      query: { where: { done: [true, false] } },
      write: ({ task }) => task.update(1, { title: undefined, done: true }, optimistic),
      atOnce: 'a,b,c',
    },
    'values in a condition may be texts': {
      query: { where: { list: '1', done: 'false' } },
      write: ({ task }) => task.update(1, { title: 'x' }, optimistic),
      atOnce: 'x,b,c',
    },
    'and another value in a text takes the record out': {
      query: { where: { list: '1', done: { '!=': 'true' } } },
      write: ({ task }) => task.update(1, { done: true }, optimistic),
      atOnce: 'b,c',
    },
    'a time in a condition may be a Date': {
      query: { where: { createdAt: { '>': new Date(0) } } },
      write: ({ task }) => task.update(1, { title: 'x' }, optimistic),
      atOnce: 'x,b,c',
    },
    'a key may be a text, as in the attributes of an element': {
      write: ({ task }) => task.update('1', { title: 'x' }, optimistic),
      atOnce: 'x,b,c',
    },
    'a record stays where it is when the rows do not contain what they are sorted by': {
      query: { sort: 'title DESC', select: ['done'] },
      write: ({ task }) => task.update(2, { title: 'a2', done: true }, optimistic),
      atOnce: '3,2,1',
    },
    'of a later page, only the service knows which record comes from the one before': {
      query: { sort: 'title', skip: 1 },
      write: ({ task }) => task.create({ title: '0' }, optimistic),
      atOnce: 'b,c',
      finally: 'a,b,c',
    },
    'a record between those of a later page is known': {
      query: { sort: 'title', skip: 1 },
      write: ({ task }) => task.create({ title: 'bb' }, optimistic),
      atOnce: 'b,bb,c',
    },
  }
  for (const [name, { query, write, atOnce, finally: last = atOnce }] of Object.entries(cases))
    test(name, async () => {
      await using app = await open()
      const tasks = app.api.task.live(query)
      await tasks.ready
      const shown = () => tasks.rows.map((row: Row) => row.title ?? row.id).join()
      const frames: string[] = []
      tasks.subscribe(() => frames.push(shown()))
      const writing = write(app.api)
      assert.equal(shown(), atOnce)
      await writing
      const { data } = await app.api.task.find(query)
      await eventually(() => assert.deepEqual(tasks.rows, data))
      assert.equal(shown(), last)
      assert.deepEqual([...new Set(frames)], last === atOnce ? [atOnce] : [last])
    })

  for (const [sort, ofGarden, ofNone] of [
    [undefined, 'a,b,c,d,e,f', 'd,e,f'],
    ['id DESC', 'f,e,d,c,b,a', 'f,e,d'],
    ['createdAt', 'a,b,c,d,e,f', 'd,e,f'],
    ['createdAt DESC', 'f,e,d,c,b,a', 'f,e,d'],
  ] as const)
    test(`of several created records, the last one is the latest: ${sort}`, async () => {
      await using app = await open()
      const queries = [{ sort }, { where: { list: null }, sort }].map((query) => app.api.task.live(query))
      await Promise.all(queries.map(({ ready }) => ready))
      const writing = ['d', 'e', 'f'].map((title) => app.api.task.create({ title, list: null }, optimistic))
      assert.deepEqual(
        queries.map(({ rows }) => rows.map(({ title }: Row) => title).join()),
        [ofGarden, ofNone],
      )
      await Promise.all(writing)
    })
})
