import { type Connection, type From, Operations } from './connection.ts'
import type { InProcess } from './in-process.ts'
import { type Listener, whereOf } from './listener.ts'
import { memberships } from './models.ts'
import { followsMembers, type ReceivedEvent } from './view.ts'

/** A loop in this process, whose service is one more of those on the same database. */
export async function listenByLoop(listener: Listener, service: InProcess, from: From): Promise<Connection> {
  const { model, user } = listener.watching
  const records = service.recordsOf(user)[model]
  const where = whereOf(listener.watching)
  const populate = !followsMembers(listener.watching)
    ? undefined
    : { [memberships[model].attribute]: { limit: 10_000 } }
  const read = async () => (await records.find({ limit: 10_000, where, populate })).data
  const events = records.live({ where, since: from.since })
  const operations = new Operations(from.position, (events) => listener.receive(events))
  const begun = Promise.withResolvers<void>()
  let goOn = () => {}
  let stalled = Promise.resolve()

  async function listen(): Promise<void> {
    for await (const event of events) {
      await stalled
      if (event.verb === 'ready' || event.verb === 'reset' || event.verb === 'restart') {
        const isNew = event.verb === 'reset' || (event.verb === 'ready' && operations.position === undefined)
        operations.position = event.position
        if (isNew) await listener.begin(false, read)
      } else {
        operations.take(event as unknown as ReceivedEvent, event.position)
      }
      begun.resolve()
    }
  }

  const ended = listen()
  await Promise.race([begun.promise, ended])
  return {
    ended,
    get position() {
      return operations.position
    },
    cut: () => void events.return?.(),
    stall(isStalled) {
      goOn()
      if (isStalled) ({ promise: stalled, resolve: goOn } = Promise.withResolvers<void>())
    },
  }
}
