import type { JsonObject } from '../../src/protocol/json.ts'
import { type Answered, SailsClient } from '../sails-client.ts'
import { unreliableNetwork } from '../unreliable-network.ts'
import type { Connection } from './connection.ts'
import { type Listener, queryOf } from './listener.ts'
import type { HeardEvent } from './view.ts'

/**
 * The ancestor's client: to come back is to find again. Undefined when it was disconnected before it was answered, which
 * is how it is told to start afresh; rejects when it is answered otherwise.
 */
export async function listenBySocket(listener: Listener, url: string): Promise<Connection | undefined> {
  const { model } = listener.watching
  await using way = new AsyncDisposableStack()
  const network = way.use(await unreliableNetwork(url))
  const client = await SailsClient.connect(network.url)
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
    if (name === 'answer') listener.believe(payload as unknown as Answered)
    else if (name === model) listener.hear([payload as unknown as HeardEvent])
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
