import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anonymous } from '../protocol/requester.ts'
import { eventLoopTurn } from '../support/event-loop-turn.ts'
import type { Subscriber } from './subscriber.ts'
import { SubscriptionIndex } from './subscription-index.ts'

type Name = 'a' | 'b' | 'c'
type Step = `+${Name}` | `-${Name}`

const subscriber = (): Subscriber => ({ requester: anonymous, deliver: () => 0, onGap: () => {} })
const subscribers: Readonly<Record<Name, Subscriber>> = { a: subscriber(), b: subscriber(), c: subscriber() }
const nameOf = (subscriber: Subscriber): string =>
  Object.entries(subscribers).find(([, other]) => other === subscriber)?.[0] ?? 'unknown'
const namesIn = (index: SubscriptionIndex): readonly string[] =>
  [...(index.subscribersOfRecord('pet', 1) ?? [])].map(([subscriber]) => nameOf(subscriber))

const cases: readonly (readonly [steps: readonly Step[], names: readonly Name[]])[] = [
  [[], []],
  [['+a'], ['a']],
  [['+a', '+a'], ['a']],
  [['+a', '-a'], []],
  [['+a', '-b'], ['a']],
  [
    ['+b', '+a'],
    ['b', 'a'],
  ],
  [
    ['+a', '+b', '+a'],
    ['a', 'b'],
  ],
  [
    ['+a', '+b', '+c'],
    ['a', 'b', 'c'],
  ],
  [['+a', '+b', '-a'], ['b']],
  [['+a', '+b', '-a', '-c'], ['b']],
  [['+a', '+b', '-a', '-b'], []],
  [['+a', '-a', '+c'], ['c']],
]
for (const [steps, names] of cases) {
  test(`subscribers of a record: ${steps.join(' ') || 'none'}`, () => {
    const index = new SubscriptionIndex()
    for (const step of steps) {
      const one = subscribers[step[1] as Name]
      if (step.startsWith('+')) index.addRecord(one, 'pet', 1)
      else index.removeRecord(one, 'pet', 1)
    }
    assert.deepEqual(namesIn(index), names)
    for (const [name, one] of Object.entries(subscribers)) {
      const isSubscribed = names.includes(name as Name)
      assert.equal(index.subscribersOfRecord('pet', 1)?.has(one) ?? false, isSubscribed)
      assert.equal(index.recordsOf(one), Number(isSubscribed))
    }
    assert.equal(index.subscribersOfRecord('pet', 1) === undefined, names.length === 0, 'an empty entry is removed')
    assert.equal(index.has('pet'), names.length > 0)
  })
}

test('each subscriber keeps its start position when another one is added', () => {
  const index = new SubscriptionIndex()
  const [early, late] = ['1', '2'].map((position) => ({ position, caughtUp: false }))
  index.addRecord(subscribers.a, 'pet', 1, early)
  index.addRecord(subscribers.b, 'pet', 1, late)
  assert.deepEqual(
    [...(index.subscribersOfRecord('pet', 1) ?? [])],
    [
      [subscribers.a, early],
      [subscribers.b, late],
    ],
  )
})

test('removing a subscriber removes all its subscriptions and no others', () => {
  const index = new SubscriptionIndex()
  for (const one of [subscribers.a, subscribers.b]) {
    for (const id of [1, 2]) index.addRecord(one, 'pet', id)
    index.addCreated(one, 'pet')
  }
  index.remove(subscribers.a)
  assert.deepEqual([index.recordsOf(subscribers.a), index.recordsOf(subscribers.b)], [0, 2])
  assert.deepEqual(namesIn(index), ['b'])
  assert.equal(index.subscribersOfCreated('pet')?.has(subscribers.a), false)
  index.remove(subscribers.b)
  assert.equal(index.has('pet'), false)
})

test('subscriptions that end in a used turn of the event loop are taken out in later ones', async () => {
  const index = new SubscriptionIndex()
  const { a, b } = subscribers
  for (let id = 1; id <= 1000; id++) for (const subscriber of [a, b]) index.addRecord(subscriber, 'pet', id)
  while (!eventLoopTurn.isUsed);
  index.remove(a)
  assert.equal(index.records, 1000)
  assert.equal(index.recordsOf(a), 0)
  assert.equal(index.subscribersOfRecord('pet', 1000)?.has(a), true)
  while (index.subscribersOfRecord('pet', 1000)?.has(a)) await new Promise((resolve) => setImmediate(resolve))
  index.remove(b)
  while (index.has('pet')) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(index.records, 0)
})
