import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { blockEventLoop } from '../../test/support/block-event-loop.ts'
import { TurnCounter } from '../../test/support/turn-counter.ts'
import { EventLoopTurn } from './event-loop-turn.ts'

test('a turn is used after some milliseconds, and the next one begins anew', async (t) => {
  let now = 1_000
  t.mock.method(performance, 'now', () => now)
  const turn = new EventLoopTurn()
  assert.equal(turn.usedMs, 0)
  now += 10
  assert.equal(turn.usedMs, 10)
  assert.ok(turn.isUsed)
  await turn.next()
  assert.equal(turn.usedMs, 0)
})

for (const { what, ms, between } of [
  { what: 'what takes long leaves others their turn', ms: 10, between: true },
  {
    what: 'what is short is continued in one turn, so that nothing that comes later overtakes it',
    ms: 0,
    between: false,
  },
]) {
  test(`what waits is continued in order; ${what}`, async () => {
    const turn = new EventLoopTurn()
    const log: string[] = []
    const waiting = ['a', 'b', 'c'].map(async (name) => {
      await turn.next()
      blockEventLoop(ms)
      log.push(name)
    })
    const others = (async () => {
      for (let count = 0; count < 4; count++) {
        await nextTurn()
        log.push('other')
      }
    })()
    await Promise.all([...waiting, others])
    assert.deepEqual(
      log.filter((name) => name !== 'other'),
      ['a', 'b', 'c'],
    )
    assert.equal(log.slice(log.indexOf('a'), log.indexOf('c')).includes('other'), between, log.join())
  })
}

test('what comes while others wait, in a turn that they use, waits behind them', async () => {
  const turn = new EventLoopTurn()
  const log: string[] = []
  const first = ['a', 'b'].map(async (name) => {
    await turn.next()
    blockEventLoop(10)
    log.push(name)
  })
  await nextTurn()
  assert.ok(turn.isUsed)
  const later = turn.next().then(() => log.push('later'))
  await Promise.all([...first, later])
  assert.deepEqual(log, ['a', 'b', 'later'])
})

test('what only lets others be read is continued before what waits already', async () => {
  const turn = new EventLoopTurn()
  const log: string[] = []
  const waiting = turn.next().then(() => log.push('waits'))
  await Promise.all([waiting, turn.nextFirst().then(() => log.push('first'))])
  assert.deepEqual(log, ['first', 'waits'])
})

for (const { what, acceptedUntilMs, expected } of [
  { what: 'what waits is continued when no connection was accepted in a turn', acceptedUntilMs: 5, expected: 6 },
  { what: 'connections that are accepted delay it by the time that a turn may take', acceptedUntilMs: 50, expected: 9 },
])
  test(what, async (t) => {
    const begin = 1_000
    let now = begin
    t.mock.method(performance, 'now', () => now)
    const turn = new EventLoopTurn()
    let isContinued = false
    void turn.next().then(() => {
      isContinued = true
    })
    for (turn.accepted(); !isContinued; await nextTurn()) if (++now - begin <= acceptedUntilMs) turn.accepted()
    assert.ok(Math.abs(now - begin - expected) <= 2, `${now - begin}`)
  })

test('what waits for a used turn is not continued at its end, but after sockets were read', async (t) => {
  const turn = new EventLoopTurn()
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const client = connect((server.address() as { port: number }).port, '127.0.0.1')
  const [socket] = (await once(server, 'connection')) as [Socket]
  const log: string[] = []
  await new Promise<void>((resolve) => {
    socket.once('data', () => {
      turn.usedMs
      blockEventLoop(10)
      void turn.next().then(() => {
        log.push('continued')
        socket.destroy()
        resolve()
      })
      // It is read in the poll phase of the next turn.
      client.write('more')
      socket.once('data', () => log.push('read'))
    })
    client.write('first')
  })
  client.destroy()
  assert.deepEqual(log, ['read', 'continued'])
})

test('what waits and takes long is continued once in a turn, however much comes meanwhile', async (t) => {
  const turn = new EventLoopTurn()
  using counter = new TurnCounter()
  const asking = setInterval(() => void turn.next(), 0)
  t.after(() => clearInterval(asking))
  const turns: number[] = []
  const item = async () => {
    await turn.next()
    blockEventLoop(10)
    turns.push(counter.turn)
  }
  await Promise.all(Array.from({ length: 20 }, item))
  assert.equal(new Set(turns).size, turns.length, `continued in the turns ${turns}`)
})

test('the turn after a used one is left to what does not wait, also where nothing waited yet', async () => {
  const turn = new EventLoopTurn()
  turn.usedMs
  blockEventLoop(10)
  await nextTurn()
  assert.ok(turn.isUsed)
  await turn.next()
  assert.ok(!turn.isUsed)
})

for (const { what, answeredAfterMs, expected } of [
  {
    what: 'before what waits is continued, short reads in a database of another process are answered',
    answeredAfterMs: 3,
    expected: ['sent', 'answered', 'continued'],
  },
  {
    what: 'short reads that are not answered delay what waits by the time that a turn may take',
    answeredAfterMs: 1_000,
    expected: ['sent', 'continued'],
  },
]) {
  test(what, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let now = 1_000
    t.mock.method(performance, 'now', () => now)
    const turn = new EventLoopTurn()
    const log: string[] = []
    let isPending = false
    turn.leaveTo(() => {
      const wasSent = isPending
      return () => wasSent && isPending
    })
    turn.usedMs
    now += 10
    const continued = turn.next().then(() => log.push('continued'))
    await nextTurn()
    assert.ok(turn.isUsed)
    log.push('sent')
    isPending = true
    const answered = now + answeredAfterMs
    for (; log.at(-1) !== 'continued'; await nextTurn()) {
      now++
      t.mock.timers.tick(1)
      if (now !== answered) continue
      isPending = false
      log.push('answered')
    }
    await continued
    assert.deepEqual(log, expected)
    assert.ok(now - 1_010 <= 12, `continued after ${now - 1_010} ms`)
  })
}

test('short reads that are sent later do not delay what waits', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const turn = new EventLoopTurn()
  let sent = 0
  let answered = 0
  turn.leaveTo(() => {
    const last = sent
    return () => answered < last
  })
  turn.usedMs
  blockEventLoop(10)
  let isContinued = false
  void turn.next().then(() => {
    isContinued = true
  })
  for (sent = 1; !isContinued; await nextTurn()) {
    t.mock.timers.tick(1)
    answered++
    sent += 2
  }
  assert.ok(answered < 10, `${answered} are answered before`)
})
