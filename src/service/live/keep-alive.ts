import { type Requester, remainingMs } from '../../protocol/requester.ts'
import { type Clock, callEvery } from '../../support/clock.ts'

/** Something is sent at least this often: proxies close connections that seem dead. */
export const keepAliveMs = 15_000

/** The rights of a user end a stream with them: a client that reconnects is identified again. */
export const keepAlive = (
  requester: Requester,
  clock: Clock,
  stream: { heartbeat(): void; stop(): void },
): Disposable =>
  callEvery(clock, keepAliveMs, () => (remainingMs(requester, clock.now()) > 0 ? stream.heartbeat() : stream.stop()))
