import type { Json, JsonObject } from '../protocol/json.ts'
import { callAction } from './actions.ts'
import { sendBatch } from './batch.ts'
import { byName } from './by-name.ts'
import { watchConnectivity } from './connectivity.ts'
import { NotFoundError } from './errors.ts'
import { HttpSender } from './http.ts'
import { LiveConnection } from './live/connection.ts'
import type { Answer, CallOptions, ClientOptions, Query, Sending } from './options.ts'
import { modelClient, segment, writeRequest } from './records.ts'
import { ConflictSender } from './writes/conflicts.ts'
import { OutboxStore } from './writes/outbox-store.ts'
import type { PendingWrite } from './writes/pending-write.ts'
import { PendingWrites } from './writes/pending-writes.ts'
import { WriteQueue } from './writes/write-queue.ts'

/** More versions are forgotten. */
const maxTags = 1_000

/** A client of a service: an object with the operations of each model by its name. */
export function openClient(options: ClientOptions): object {
  const outbox = options.outbox === true ? {} : options.outbox || undefined
  const http = new HttpSender(options)
  /** The versions of the records that were received last, by their paths, for `If-Match`. */
  const tags = new Map<string, string>()
  const send = async (request: Sending): Promise<Answer> => {
    const answer = await http.send(request)
    const tag = answer.headers.get('ETag') as string
    // Lists, and records that were read in part, have no version.
    if (/^"[\w-]{22}-/.test(tag)) {
      if (tags.size >= maxTags) tags.clear()
      tags.set(request.path.split('?')[0] as string, tag)
    }
    return answer
  }
  const pathOf = (model: string): string => `/${options.path?.(model) ?? model}`
  const pathOfRecord = ({ model, id }: PendingWrite): string => pathOf(model) + segment(id)
  const act = (path: string) => (input?: Json, call?: CallOptions) => callAction(http, path, input, call)

  const writes = new PendingWrites()
  const sender = new ConflictSender(
    {
      write: ({ kind, model, id, values }, call) => send({ ...call, ...writeRequest(pathOf(model), kind, id, values) }),
      async read(write) {
        try {
          const answer = await http.send({ method: 'GET', path: `${pathOfRecord(write)}?populate=false` })
          return { record: answer.body as JsonObject, tag: answer.headers.get('ETag') ?? undefined }
        } catch (error) {
          if (error instanceof NotFoundError) return undefined
          throw error
        }
      },
      tagOf: (write) => tags.get(pathOfRecord(write)),
      save: () => queue.save(),
    },
    outbox,
  )
  const closed = new AbortController()
  const queue = new WriteQueue(
    writes,
    sender,
    options,
    outbox && new OutboxStore(outbox, (write) => writes.add(write)),
    outbox && closed.signal,
  )
  const connection = new LiveConnection(http, writes, options)
  connection.onOpen = () => queue.wake()
  queue.onAnswer = () => connection.update()
  watchConnectivity(
    () => {
      connection.wake()
      queue.wake()
    },
    () => connection.drop(),
    closed.signal,
  )

  const records = byName((model) => {
    const live = (query?: Query) => connection.open(model, query)
    const path = pathOf(model)
    const client = modelClient(path, send, (kind, ...write) => queue.perform(kind, model, ...write), live)
    // Any other name is that of an action; one on a record takes its key first.
    const action =
      (name: string) =>
      (first?: Json, ...others: [Json?, CallOptions?]) =>
        /string|number/.test(typeof first)
          ? act(`${path}${segment(first as string)}/${name}`)(...others)
          : act(`${path}/${name}`)(first, ...(others as [CallOptions?]))
    return byName((name) => client[name as 'find'] ?? action(name))
  })
  const close = () => {
    closed.abort()
    queue.wake()
    connection.close()
  }
  const own = {
    records,
    actions: byName((name) => act(`/${name}`)),
    batch: (work: (tx: object) => Iterable<unknown>, call?: CallOptions) => sendBatch(send, pathOf, work, call),
    outbox: queue,
    close,
    [Symbol.dispose]: close,
  }
  return new Proxy(own, { get: (_, name) => own[name as 'records'] ?? records[name as string] })
}
