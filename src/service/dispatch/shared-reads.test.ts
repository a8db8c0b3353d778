import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { blockEventLoop } from '../../../test/support/block-event-loop.ts'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import type { ReadOptions } from '../../storage/store.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { SharedReads } from './shared-reads.ts'

/** Reads that end when the test says so, in the order in which they have begun. */
function readsOfTest() {
  const begun: (PromiseWithResolvers<string> & { readonly client: ReadOptions })[] = []
  const reads = new SharedReads<string>()
  const outcomes: string[] = []
  return {
    begun,
    outcomes,
    /** Reads for the request of this name, and adds the name and the result to the outcomes. */
    ask(name: string, client: ReadOptions = {}): void {
      const read = (client: ReadOptions) => {
        const read = { ...Promise.withResolvers<string>(), client }
        begun.push(read)
        return read.promise
      }
      Promise.resolve(reads.read(client, read)).then(
        (result) => outcomes.push(`${name} ${result}`),
        (error) => outcomes.push(`${name} ${error.message}`),
      )
    },
    async end(index: number, result: string | Error): Promise<void> {
      if (result instanceof Error) begun[index]?.reject(result)
      else begun[index]?.resolve(result)
      await new Promise(setImmediate)
      await eventLoopTurn.next() // behind the requests that were given the result
    },
  }
}

describe('reads of one answer', () => {
  test('beyond two share the next, which begins when one of them has ended', async () => {
    const { ask, end, begun, outcomes } = readsOfTest()
    for (const name of ['a', 'b', 'c', 'd', 'e']) ask(name)
    assert.equal(begun.length, 2)
    await end(1, 'second')
    assert.equal(begun.length, 3)
    for (const name of ['f', 'g']) ask(name)
    await end(2, 'third')
    assert.equal(begun.length, 4)
    await end(0, 'first')
    await end(3, 'fourth')
    assert.equal(begun.length, 4)
    const shared = ['c third', 'd third', 'e third']
    assert.deepEqual(outcomes, ['b second', ...shared, 'a first', 'f fourth', 'g fourth'])
    ask('h')
    assert.equal(begun.length, 5)
  })

  test('that fail are an error for those that share them, and the next one is read', async () => {
    const { ask, end, begun, outcomes } = readsOfTest()
    for (const name of ['a', 'b', 'c', 'd']) ask(name)
    await end(0, new Error('lost'))
    await end(2, new Error('too long'))
    assert.deepEqual(outcomes, ['a lost', 'c too long', 'd too long'])
    for (const name of ['e', 'f']) ask(name)
    await end(1, 'second')
    await end(3, 'e')
    await end(4, 'f')
    assert.equal(begun.length, 5)
    assert.deepEqual(outcomes.slice(3), ['b second', 'e e', 'f f'])
  })

  for (const { what, outcome } of [
    { what: 'answers', outcome: 'third' },
    { what: 'errors', outcome: new Error('too long') },
  ])
    test(`what follows the ${what} of those that share them, and takes long, has a turn of the event loop each`, async () => {
      const reads = new SharedReads<string>()
      const first = Promise.withResolvers<string>()
      const third = Promise.withResolvers<string>()
      for (let index = 0; index < 2; index++) reads.read({}, () => first.promise)
      using counter = new TurnCounter()
      const turns: number[] = []
      const encode = () => {
        blockEventLoop(10)
        turns.push(counter.turn)
      }
      const shared = Array.from({ length: 5 }, async () => {
        await Promise.resolve(reads.read({}, () => third.promise)).then(encode, encode)
      })
      first.resolve('first')
      if (outcome instanceof Error) third.reject(outcome)
      else third.resolve(outcome)
      await Promise.all(shared)
      assert.equal(new Set(turns).size, shared.length, `continued in the turns ${turns}`)
    })

  test('that return no promise, or throw, are shared by none', () => {
    const reads = new SharedReads<number>()
    let count = 0
    for (let index = 1; index < 5; index++)
      assert.equal(
        reads.read({}, () => ++count),
        index,
      )
    const fail = () => {
      throw new Error('refused')
    }
    for (let index = 1; index < 5; index++) assert.throws(() => reads.read({}, fail), /refused/)
  })

  test('that throw when they begin are an error for those that share them', async () => {
    const reads = new SharedReads<string>()
    const first = Promise.withResolvers<string>()
    reads.read({}, () => first.promise)
    const second = reads.read({}, () => first.promise)
    const fail = () => {
      throw new Error('refused')
    }
    const shared = [reads.read({}, fail), reads.read({}, fail)]
    first.resolve('first')
    for (const read of shared) await assert.rejects(async () => read, /refused/)
    assert.equal(await second, 'first')
  })

  /** Which of the clients of two shared requests disconnect, before and after the read begins, and whether that aborts it. */
  const departures: readonly (readonly [before: string, after: string, isAborted: boolean])[] = [
    ['', '', false],
    ['c', '', false],
    ['', 'd', false],
    ['cd', '', true],
    ['c', 'd', true],
    ['', 'cd', true],
  ]
  for (const [before, after, isAborted] of departures)
    test(`with the clients ${before || 'none'} gone before they begin and ${after || 'none'} after: ${isAborted}`, async () => {
      const { ask, end, begun } = readsOfTest()
      const clients = { a: new AbortController(), b: new AbortController() }
      const shared: Record<string, AbortController> = { c: new AbortController(), d: new AbortController() }
      for (const [name, { signal }] of Object.entries({ ...clients, ...shared })) ask(name, { signal })
      for (const name of before) shared[name]?.abort()
      await end(0, 'first')
      for (const name of after) shared[name]?.abort()
      assert.equal(begun[2]?.client.signal?.aborted, isAborted)
      assert.equal(begun[1]?.client.signal, clients.b.signal)
    })

  test('whose clients have all gone are read for one that comes before they begin', async () => {
    const { ask, end, begun, outcomes } = readsOfTest()
    const client = new AbortController()
    ask('a')
    ask('b')
    ask('c', client)
    client.abort()
    ask('d', { signal: AbortSignal.abort() })
    ask('e')
    await end(0, 'first')
    assert.equal(begun[2]?.client.signal?.aborted, false)
    await end(2, 'third')
    assert.ok(outcomes.includes('e third'))
  })

  for (const outcome of ['third', new Error('lost')])
    test(`that have ended with ${outcome} are kept by no client`, async () => {
      const { ask, end, begun } = readsOfTest()
      const socket = new AbortController()
      for (const name of ['a', 'b', 'c', 'd']) ask(name, socket)
      assert.equal(getEventListeners(socket.signal, 'abort').length, 2)
      await end(0, 'first')
      await end(2, outcome)
      assert.deepEqual(getEventListeners(socket.signal, 'abort'), [])
      socket.abort()
      assert.equal(begun[2]?.client.signal?.aborted, false)
    })
})
