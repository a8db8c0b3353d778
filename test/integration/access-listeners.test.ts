import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ImageJudge } from '../../src/access/image-judge.ts'
import { ShapeEvaluation } from '../../src/access/shape-evaluation.ts'
import { lessThan } from '../../src/criteria/operators/ordering.ts'
import { createService, type RuleOutcome } from '../../src/index.ts'
import { StartPositions } from '../../src/realtime/start-position.ts'
import { blockEventLoop } from '../support/block-event-loop.ts'
import { eventually } from '../support/eventually.ts'
import { TurnCounter } from '../support/turn-counter.ts'

/* What a change costs when many listen whose rules differ. Evaluations are counted, and nothing is timed. */

interface User {
  readonly shape: number
  readonly value: number
}

const shapeCount = 100
const valueCount = 100
const attributes = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']

/** A hundred structures, none of which is another one with other values, and each compares what a change concerns. */
const ruleOf = ({ shape, value }: User): RuleOutcome => {
  const first = attributes[Math.floor(shape / 10)] as string
  const second = attributes[shape % 10] as string
  return { or: [{ [first]: value }, { and: [{ [second]: { '>=': 0 } }, { a: { '<': value } }] }] }
}

test('10,000 listeners of 100 rule shapes cost at most 100 evaluations for a change, and no statement', async (t) => {
  let statements = 0
  await using service = await createService({
    database: 'sqlite::memory:',
    auth: { identify: (): User | null => null },
    attributes: { createdAt: false, updatedAt: false },
    models: {
      pet: {
        access: { read: ({ user }) => user !== null && ruleOf(user) },
        attributes: Object.fromEntries(attributes.map((name) => [name, { type: 'number' }] as const)),
      },
    },
    logger: {
      info() {},
      warn() {},
      error: (data) => assert.fail(String((data as { readonly err?: unknown }).err)),
      debug: (data) => {
        if ((data as { readonly kind?: string }).kind === 'statement') statements++
      },
    },
  })
  const starts = t.mock.method(StartPositions.prototype, 'at').mock
  const { pet } = service.system.records
  let seen = 0
  await listen(pet.live(), () => seen++)
  const zeros = Object.fromEntries(attributes.map((name) => [name, 0]))
  const fifties = Object.fromEntries(attributes.map((name) => [name, 50]))
  const changes: readonly (readonly [title: string, write: () => Promise<unknown>])[] = [
    ['created', () => pet.create({ id: 1, ...zeros })],
    ['updated, in all that rules compare', () => pet.update(1, fifties)],
    ['updated, in one attribute', () => pet.update(1, { a: 3 })],
    ['destroyed', () => pet.destroy(1)],
  ]
  const evaluations = t.mock.method(ShapeEvaluation.prototype, 'decide').mock
  const comparisons = t.mock.method(lessThan, 'matches').mock
  const costOf = async (write: () => Promise<unknown>) => {
    const before = { evaluations: evaluations.callCount(), comparisons: comparisons.callCount(), statements, seen }
    await write()
    await eventually(() => seen === before.seen + 1)
    return {
      evaluations: evaluations.callCount() - before.evaluations,
      comparisons: comparisons.callCount() - before.comparisons,
      statements: statements - before.statements,
    }
  }
  const alone: number[] = []
  for (const [, write] of changes) alone.push((await costOf(write)).statements)

  const receivers = new Set<User>()
  const users = Array.from({ length: shapeCount * valueCount }, (_, number) => ({
    shape: number % shapeCount,
    value: 1 + Math.floor(number / shapeCount),
  }))
  await Promise.all(users.map((user) => listen(service.as(user).records.pet.live(), () => receivers.add(user))))
  // Until then some read what they receive from the log, each for itself.
  await eventually(() => starts.callCount() === users.length + 1)
  await costOf(() => pet.create({ id: 0, ...fifties })) // the first change puts the rules into the index
  for (const [at, [title, write]] of changes.entries()) {
    receivers.clear()
    const { evaluations, comparisons, statements } = await costOf(write)
    t.diagnostic(`${title}: ${evaluations} evaluations, ${comparisons} comparisons, ${receivers.size} receive it`)
    assert.ok(receivers.size > 0, `${title}: some receive it`)
    assert.ok(evaluations > 0 && evaluations <= shapeCount, `${title}: ${evaluations} evaluations`)
    // The values of a shape are found by a search: an evaluation is not one for each of them.
    assert.ok(comparisons <= 2 * shapeCount * Math.ceil(Math.log2(valueCount + 1)), `${title}: ${comparisons}`)
    assert.equal(statements, alone[at], `${title}: statements`)
  }
})

/** Resolves when the listener is ready; then it takes each event. */
function listen(events: AsyncIterable<{ readonly verb: string }>, take: () => void): Promise<void> {
  const ready = Promise.withResolvers<void>()
  void (async () => {
    for await (const { verb } of events) {
      if (verb === 'ready') ready.resolve()
      else if (verb !== 'restart') take()
    }
  })()
  return ready.promise
}

test('the events of many records are judged in turns of the event loop, for many that listen under rules of their own', async (t) => {
  const [listeners, changes] = [40, 25]
  await using service = await createService({
    database: 'sqlite::memory:',
    auth: { identify: (): { id: number } | null => null },
    attributes: { createdAt: false, updatedAt: false },
    models: {
      pet: {
        access: { read: ({ user }) => user !== null && { owner: user.id } },
        attributes: { name: { type: 'string' }, owner: { type: 'number' } },
      },
    },
  })
  const { pet } = service.system.records
  await pet.createMany(Array.from({ length: changes }, () => ({ owner: 0 })))
  const starts = t.mock.method(StartPositions.prototype, 'at').mock
  for (let id = 1; id <= listeners; id++) await listen(service.as({ id }).records.pet.live(), () => {})
  await eventually(() => starts.callCount() === listeners) // as above
  const { judge } = ImageJudge.prototype
  using counter = new TurnCounter()
  const turns = new Set<number>()
  let calls = 0
  t.mock.method(ImageJudge.prototype, 'judge', function (this: ImageJudge, ...given: Parameters<typeof judge>) {
    turns.add(counter.turn)
    calls++
    blockEventLoop(1)
    return judge.apply(this, given)
  })
  await pet.updateMany({ where: { owner: 0 }, count: true }, { name: 'changed' })
  await eventually(() => calls === listeners * changes)
  assert.ok(turns.size >= changes - 1, `${turns.size} turns`)
})
