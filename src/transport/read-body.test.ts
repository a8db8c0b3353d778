import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { test } from 'node:test'
import { TurnCounter } from '../../test/support/turn-counter.ts'
import { eventLoopTurn } from '../support/event-loop-turn.ts'
import { defaultLimits } from '../support/limits.ts'
import { WaitingBytes } from '../support/waiting-bytes.ts'
import { readBody } from './read-body.ts'

for (const { what, length, usesTurn = false, isLater, fill = 'x' } of [
  { what: 'a short body is given in the turn in which its end is read', length: 1_000, isLater: false },
  { what: 'also when this turn is used', length: 1_000, usesTurn: true, isLater: false },
  { what: 'but several records in a later turn then', length: 1_000, fill: '{},', usesTurn: true, isLater: true },
  { what: 'a body of some kB as well', length: 8_000, isLater: false },
  { what: 'but in a later turn when this one is used', length: 8_000, usesTurn: true, isLater: true },
  { what: 'a long one in a later turn, after what others have sent is read', length: 200_000, isLater: true },
])
  test(what, async (t) => {
    using counter = new TurnCounter()
    const waiting = new WaitingBytes(defaultLimits.maxWaitingBytes)
    const given = Promise.withResolvers<{ readonly bytes: Uint8Array; readonly turns: number }>()
    const server = createServer((req, res) => {
      let end = 0
      req.prependListener('end', () => {
        end = counter.turn
        while (usesTurn && !eventLoopTurn.isUsed);
      })
      const done = (bytes: Uint8Array): void => {
        given.resolve({ bytes, turns: counter.turn - end })
        res.end()
      }
      readBody(req, { maxBodyBytes: defaultLimits.maxBodyBytes, waiting }, done, () => given.reject())
    }).listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    const { port } = server.address() as { readonly port: number }
    const body = Buffer.concat([Buffer.from('{'), Buffer.alloc(length - 1, fill)])
    request({ port, method: 'POST', agent: false }, (response) => response.resume()).end(body)
    const { bytes, turns } = await given.promise
    assert.deepEqual(Buffer.from(bytes), body)
    assert.equal(turns > 0, isLater, `${turns} turns`)
  })
