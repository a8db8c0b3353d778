import type { JsonObject } from '../../../src/protocol/json.ts'
import { type Answered, SailsClient } from '../../support/sails-client.ts'
import { unreliableNetwork } from '../../support/unreliable-network.ts'
import type { Connection } from './connection.ts'
import { type Listener, queryOf } from './listener.ts'
import type { ReceivedEvent } from './view.ts'

/**
 * The client of Sails, which finds the records again when it reconnects. Undefined when it was disconnected before the
 * response, as a client that has to start again is; rejects for another status.
 */
export async function listenBySocket(listener: Listener, url: string): Promise<Connection | undefined> {
  const { model, user } = listener.watching
  await using way = new AsyncDisposableStack()
  const network = way.use(await unreliableNetwork(url))
  const client = await SailsClient.connect(network.url, user === undefined ? {} : { query: `user=${user}` })
  const ended = Promise.withResolvers<void>()
  let isOver = false
  client.socket.on('disconnect', () => {
    isOver = true
    void network.close()
    ended.resolve()
  })
  const find = () => Promise.race([client.ask('get', `/${model}`, queryOf(listener.watching)), ended.promise])
  const answered = await find()
  if (isOver) return undefined
  if (answered?.statusCode !== 200) throw new Error(`a socket was answered ${answered?.statusCode}`)
  await listener.begin(true, async () => answered.body as JsonObject[])
  client.listen((name, payload) => {
    if (isOver) return
    if (name === 'answer') listener.applyResponse(payload as unknown as Answered)
    else if (name === model) listener.receive([payload as unknown as ReceivedEvent])
  })
  way.move()
  return {
    ended: ended.promise,
    position: undefined,
    cut: () => client.close(),
    stall: (isStalled) => network.stall(isStalled),
    again: async () => void (await find()),
    ...(model === 'pet' && {
      patch: async (path, body) =>
        (await Promise.race([client.askAmongEvents('patch', path, body), ended.promise])) ?? undefined,
    }),
  }
}
