import type { RecordId } from '../../protocol/change.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { Backoff } from '../backoff.ts'
import { NetworkError, UnavailableError } from '../errors.ts'
import type { Answer, ClientOptions, WriteOptions } from '../options.ts'
import { randomId } from '../random.ts'
import type { ConflictSender } from './conflicts.ts'
import type { OutboxStore } from './outbox-store.ts'
import { isAnswered, type PendingWrite } from './pending-write.ts'
import type { PendingWrites } from './pending-writes.ts'

/**
 * Sends writes: those of one record one after another, others at once. With an outbox, a write without an answer is kept and
 * sent again, and until then all writes are sent in their order.
 */
export class WriteQueue {
  readonly #pending: PendingWrites
  readonly #sender: ConflictSender
  readonly #store: OutboxStore | undefined
  /** Aborted when the client is closed: then an outbox sends and saves nothing more. Undefined without an outbox. */
  readonly #closed: AbortSignal | undefined
  readonly #listeners = new Set<() => void>()
  readonly #backoff: Backoff
  /** The ids of created records by their temporary ones, which only optimistic writes show. */
  readonly #ids = new Map<RecordId, RecordId>()
  #isWaiting = false
  /** After a write was kept, and until none is left: they are sent one after another. */
  #isCatchingUp = false
  /** Called after each answer. */
  onAnswer: () => void = () => {}
  /** The number of writes without an answer. */
  size = 0

  constructor(
    pending: PendingWrites,
    sender: ConflictSender,
    options: ClientOptions,
    store: OutboxStore | undefined,
    closed: AbortSignal | undefined,
  ) {
    this.#pending = pending
    this.#sender = sender
    this.#store = store
    this.#closed = closed
    this.#backoff = new Backoff(options.retryDelayMs)
    void store?.loaded?.then(() => this.#changed())
  }

  subscribe = (listener: () => void): (() => void) => {
    const call = async () => listener()
    this.#listeners.add(call)
    return () => this.#listeners.delete(call)
  }

  /** Resolves with the record in the answer. */
  async perform(
    kind: PendingWrite['kind'],
    model: string,
    given: RecordId | undefined,
    values: JsonObject,
    call: WriteOptions = {},
  ): Promise<JsonObject> {
    // An optimistic write is shown before this returns, unless those of an earlier page are still being loaded.
    if (this.#store?.loaded) await this.#store.loaded
    this.#closed?.throwIfAborted()
    call.signal?.throwIfAborted()
    const id = this.#ids.get(given as RecordId) ?? given
    const key = randomId()
    const name = this.#pending.keyOf(model)
    const base = this.#pending.shown(model, id)
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
    const write: PendingWrite = {
      ...call,
      kind,
      model,
      id: (base?.[name] ?? id ?? values[name] ?? key) as RecordId,
      values: this.#withIds(values),
      base,
      key,
      // What is displayed may have changed meanwhile.
      state: this.#store && this.#pending.isOffline(model) ? 'kept' : 'waiting',
      sentAt: 0,
      before: new Map(),
      resolve,
      reject,
    }
    this.#pending.add(write)
    const abort = () => this.#refuse(write, call.signal?.reason)
    call.signal?.addEventListener('abort', abort)
    this.#changed()
    return promise.finally(() => call.signal?.removeEventListener('abort', abort))
  }

  /** Sends what was kept at once instead of after the delay. */
  wake(): void {
    this.#backoff.end()
  }

  /** The values as the service receives them, with real ids in the place of temporary ones, at any depth. */
  #withIds(values: JsonObject): JsonObject {
    return JSON.parse(JSON.stringify(values), (_, value) => this.#ids.get(value) ?? value)
  }

  /** Puts the writes without an answer into the storage. */
  save(): readonly PendingWrite[] {
    const open = this.#pending.list.filter((write) => !isAnswered(write))
    this.#closed?.throwIfAborted()
    this.#store?.save(open)
    return open
  }

  #changed(): void {
    if (this.#closed?.aborted) return
    const open = this.save()
    this.size = open.length
    for (const listener of this.#listeners) listener()
    this.#isCatchingUp &&= this.size > 0
    if (this.#isWaiting) return
    const list = this.#isCatchingUp ? open.slice(0, 1) : open
    for (const [index, write] of list.entries())
      if (write.state !== 'sent' && !open.slice(0, index).some((earlier) => mustPrecede(earlier, write)))
        void this.#send(write)
  }

  async #send(write: PendingWrite): Promise<void> {
    this.#isCatchingUp ||= write.state === 'kept'
    // A kept write may have taken place when it was sent before.
    write.sentAt = write.state === 'kept' ? 0 : ++this.#pending.time
    write.state = 'sent'
    try {
      const answer = await this.#sender.send(write, this.#isCatchingUp)
      this.#backoff.failures = 0
      this.#answered(write, answer)
    } catch (error) {
      // It stays in the storage.
      if (this.#closed?.aborted) return
      if (this.#store && (error instanceof NetworkError || error instanceof UnavailableError))
        void this.#keep(write, error)
      else this.#refuse(write, error)
    }
  }

  #answered(write: PendingWrite, { headers, body }: Answer): void {
    if (!this.#pending.list.includes(write)) return
    const temporary = write.id
    write.state = 'answered'
    write.record = body as JsonObject
    write.token = headers.get('Keelson-Operation')
    write.id = (write.record[this.#pending.keyOf(write.model)] as RecordId | undefined) ?? temporary
    if (write.optimistic && write.kind === 'create') this.#ids.set(temporary, write.id)
    for (const later of this.#pending.list) {
      if (isAnswered(later)) continue
      later.values = this.#withIds(later.values)
      if (later.model !== write.model || later.id !== temporary) continue
      later.id = write.id
      // The later write is based on this one.
      later.base &&= { ...later.base, ...write.record }
    }
    this.#pending.answered(write)
    this.onAnswer()
    write.resolve(write.record)
    this.#changed()
  }

  #refuse(write: PendingWrite, error: unknown): void {
    if (isAnswered(write)) return
    write.state = 'answered'
    this.#pending.remove(write)
    write.reject(error)
    this.#changed()
  }

  async #keep(write: PendingWrite, error: unknown): Promise<void> {
    write.state = 'kept'
    this.#isCatchingUp = true
    if (this.#isWaiting) return this.#changed()
    this.#isWaiting = true
    this.#changed()
    await this.#backoff.wait(error)
    this.#isWaiting = false
    this.#changed()
  }
}

/** Whether the later write concerns the same record, or refers to one that does not exist before the earlier one. */
const mustPrecede = (earlier: PendingWrite, later: PendingWrite): boolean =>
  (earlier.model === later.model && earlier.id === later.id) ||
  (earlier.kind === 'create' &&
    Object.values(later.values)
      .flat()
      .includes(earlier.id as Json))
