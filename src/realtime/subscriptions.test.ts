import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Peer } from '../protocol/event.ts'
import { Subscriptions } from './subscriptions.ts'

const [ann, ben, cay] = ['ann', 'ben', 'cay'].map(
  (id): Peer => ({ id, mirror: false, send: () => true, reset: () => {} }),
) as [Peer, Peer, Peer]

const namesOf = (subscriptions: Subscriptions): readonly string[] =>
  [...(subscriptions.followersOf('pet', 1) ?? [])].map(([{ id }]) => id)

const cases: readonly (readonly [string, readonly (readonly [Peer, 'comes' | 'goes'])[], readonly string[]])[] = [
  ['nobody', [], []],
  ['one', [[ann, 'comes']], ['ann']],
  [
    'one who comes twice',
    [
      [ann, 'comes'],
      [ann, 'comes'],
    ],
    ['ann'],
  ],
  [
    'one who went',
    [
      [ann, 'comes'],
      [ann, 'goes'],
    ],
    [],
  ],
  [
    'one, when a stranger goes',
    [
      [ann, 'comes'],
      [ben, 'goes'],
    ],
    ['ann'],
  ],
  [
    'two, in the order in which they came',
    [
      [ben, 'comes'],
      [ann, 'comes'],
    ],
    ['ben', 'ann'],
  ],
  [
    'two, one of whom comes twice',
    [
      [ann, 'comes'],
      [ben, 'comes'],
      [ann, 'comes'],
    ],
    ['ann', 'ben'],
  ],
  [
    'three',
    [
      [ann, 'comes'],
      [ben, 'comes'],
      [cay, 'comes'],
    ],
    ['ann', 'ben', 'cay'],
  ],
  [
    'the second of two',
    [
      [ann, 'comes'],
      [ben, 'comes'],
      [ann, 'goes'],
    ],
    ['ben'],
  ],
  [
    'one of two, when a stranger goes',
    [
      [ann, 'comes'],
      [ben, 'comes'],
      [ann, 'goes'],
      [cay, 'goes'],
    ],
    ['ben'],
  ],
  [
    'none of two who went',
    [
      [ann, 'comes'],
      [ben, 'comes'],
      [ann, 'goes'],
      [ben, 'goes'],
    ],
    [],
  ],
  [
    'one who came after all had gone',
    [
      [ann, 'comes'],
      [ann, 'goes'],
      [cay, 'comes'],
    ],
    ['cay'],
  ],
]

for (const [name, steps, names] of cases) {
  test(`who follows a record: ${name}`, () => {
    const subscriptions = new Subscriptions()
    for (const [peer, step] of steps) {
      if (step === 'comes') subscriptions.follow(peer, 'pet', 1, undefined)
      else subscriptions.unfollow(peer, 'pet', 1)
    }
    assert.deepEqual(namesOf(subscriptions), names)
    for (const peer of [ann, ben, cay]) {
      const follows = names.includes(peer.id)
      assert.equal(subscriptions.followersOf('pet', 1)?.has(peer) ?? false, follows)
      assert.equal(subscriptions.countOf(peer), Number(follows))
    }
    assert.equal(subscriptions.followersOf('pet', 1) === undefined, names.length === 0, 'nothing is kept for nobody')
  })
}

test('each follower keeps what it has read when another one comes', () => {
  const subscriptions = new Subscriptions()
  const [early, late] = ['1', '2'].map((position) => ({ position, settled: false }))
  subscriptions.follow(ann, 'pet', 1, early)
  subscriptions.follow(ben, 'pet', 1, late)
  assert.deepEqual(
    [...(subscriptions.followersOf('pet', 1) ?? [])],
    [
      [ann, early],
      [ben, late],
    ],
  )
})

test('who leaves is counted no more, and others stay', () => {
  const subscriptions = new Subscriptions()
  for (const peer of [ann, ben]) for (const id of [1, 2]) subscriptions.follow(peer, 'pet', id, undefined)
  subscriptions.leave(ann)
  assert.deepEqual([subscriptions.countOf(ann), subscriptions.countOf(ben)], [0, 2])
  assert.deepEqual(namesOf(subscriptions), ['ben'])
})
