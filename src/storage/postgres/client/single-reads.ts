import type { Limits } from '../../../support/limits.ts'
import { budgetOf } from '../../byte-budget.ts'
import type { DatabaseError, GroupedLookup, Row, Statement } from '../../driver.ts'
import type { ReadOptions } from '../../store.ts'
import { isLarge, isLocked, isLost, isOverdue, isStale } from '../errors.ts'
import type { Connection } from './connection.ts'
import type { ExclusiveReads } from './exclusive-reads.ts'
import { GroupedLookups } from './grouped-lookups.ts'
import type { LockWaits } from './lock-waits.ts'
import { LongAnswers } from './long-answers.ts'
import { idlest, type PipelinedConnection, sendOn } from './pipelined-connection.ts'
import type { QueryPlans } from './query-plans.ts'
import { type ScanAdmission, ScanSlots } from './scan-slots.ts'
import type { QueryRequest } from './text-query.ts'

/** A read is sent again this often: its connection may also have been left because of another one. */
const sentAgain = 3

export interface SingleReadsParts {
  readonly keys: readonly PipelinedConnection[]
  readonly indexed: readonly PipelinedConnection[]
  /** For keys and indexed statements whose answers are long. */
  readonly long: readonly PipelinedConnection[]
  readonly walks: readonly PipelinedConnection[]
  readonly scans: ExclusiveReads
  readonly own: ExclusiveReads
  readonly plans: QueryPlans
  readonly locks: LockWaits
  readonly limits: Limits
}

/** How a read is repeated that fails on a pipelined connection. */
interface Repeat {
  readonly options: ReadOptions | undefined
  /** Whether the service itself reads, not a request. */
  readonly isOwn: boolean
}

/** Reads of one statement, each on the connections that others of its cost have. */
export class SingleReads {
  readonly #parts: SingleReadsParts
  readonly #slots: ScanSlots
  readonly #long = new LongAnswers()
  readonly #lookups: GroupedLookups
  readonly admission: ScanAdmission

  constructor(parts: SingleReadsParts) {
    const { plans, walks, limits } = parts
    this.#parts = parts
    this.#lookups = new GroupedLookups(parts.keys, limits.maxAnswerBytes, this.#long)
    this.#slots = new ScanSlots(limits.maxServerScans, limits.busyTimeoutMs)
    this.admission = {
      slots: this.#slots,
      mayScan: ({ text, access }) => access !== 'key' && plans.mayScan(text),
      explain: (statement) => plans.explain(statement, (request) => sendOn(idlest(walks), request)),
    }
  }

  /** A read of the service itself. */
  query(text: string, values: readonly unknown[], options: ReadOptions | undefined): Promise<readonly Row[]> {
    const request: QueryRequest = { text, values, how: 'kept', budget: options?.budget }
    return this.#readOn(this.#parts.indexed, request, { options, isOwn: true })
  }

  /** A statement whose plan is not known yet runs as a scan; where that would wait, its plan is asked for first. */
  read(statement: Statement, options?: ReadOptions): Promise<readonly Row[]> {
    const { text, values, access, group } = statement
    const { keys, long, plans, limits, locks } = this.#parts
    if (access === 'key') {
      const request: QueryRequest = { text, values, how: 'kept', budget: budgetOf(options, limits.maxAnswerBytes) }
      const repeat = { options, isOwn: false }
      if (this.#long.has(text)) return this.#readOn(long, request, repeat)
      return group && !locks.has(text) ? this.#readInGroup(request, group, repeat) : this.#readOn(keys, request, repeat)
    }
    if (plans.classOf(text) !== undefined || !this.#slots.areTaken) return this.#readByPlan(statement, options)
    return this.admission.explain(statement).then(() => this.#readByPlan(statement, options))
  }

  #readByPlan(statement: Statement, options?: ReadOptions): Promise<readonly Row[]> {
    const { text, values } = statement
    const { indexed, long, walks, plans } = this.#parts
    const request: QueryRequest = { text, values, how: 'kept', budget: options?.budget }
    const planClass = plans.classOf(text)
    if (planClass === 'indexed') {
      return this.#readOn(this.#long.has(text) ? long : indexed, request, { options, isOwn: false })
    }
    if (planClass === 'walk') return this.#readOn(walks, request, { options, isOwn: false })
    return this.#scan({ ...request, how: 'anew' }, options, (connection) => {
      if (planClass === undefined) void plans.explain(statement, (request) => connection.run(request))
    })
  }

  #readOn(connections: readonly PipelinedConnection[], request: QueryRequest, repeat: Repeat): Promise<readonly Row[]> {
    const { locks } = this.#parts
    const send = () => this.#send(idlest(connections), request, repeat)
    return locks.has(request.text) ? locks.before(request, send) : send()
  }

  #readInGroup(request: QueryRequest, group: GroupedLookup, repeat: Repeat): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      const fail = (error: DatabaseError) =>
        this.#readAgain(idlest(this.#parts.keys), request, repeat, error).then(resolve, reject)
      this.#lookups.send({ request, resolve: this.#long.noting(request, resolve), reject: fail }, group)
    })
  }

  #send(connection: PipelinedConnection, request: QueryRequest, repeat: Repeat): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      connection.send(request, repeat.isOwn ? resolve : this.#long.noting(request, resolve), (error) =>
        this.#readAgain(connection, request, repeat, error).then(resolve, reject),
      )
    })
  }

  async #readAgain(
    connection: PipelinedConnection,
    request: QueryRequest,
    repeat: Repeat,
    error: DatabaseError,
  ): Promise<readonly Row[]> {
    const { own, plans, locks } = this.#parts
    const { options, isOwn } = repeat
    const whenUnlocked = (error: unknown): Promise<readonly Row[]> => {
      if (isLocked(error)) return locks.before(request, () => this.#send(connection, request, repeat))
      throw error
    }
    if (isOverdue(error) && !isLocked(error)) {
      const anew = { ...request, how: 'anew' } as const
      if (isOwn) return own.read(anew, options)
      // Others like it were sent before this was known, and each would delay what is behind it for as long.
      if (plans.mayScan(request.text)) connection.leave()
      plans.demote(request.text)
      return this.#scan(anew, options)
    }
    if (isLost(error) && !isOwn && plans.mayScan(request.text)) return this.#scan({ ...request, how: 'anew' }, options)
    let last: unknown = error
    for (let time = 1; time <= sentAgain && (isStale(last) || isLost(last)); time++) {
      try {
        return await sendOn(connection, request)
      } catch (failure) {
        last = failure
      }
    }
    // The server goes on to send what is too large; the next time that delays no other statement.
    if (isLarge(last)) plans.isolate(request.text)
    return whenUnlocked(last)
  }

  #scan(
    request: QueryRequest,
    options?: ReadOptions,
    sent?: (connection: Connection) => void,
  ): Promise<readonly Row[]> {
    const { scans, locks } = this.#parts
    const scan = (): Promise<readonly Row[]> =>
      this.#slots
        .use(() => scans.read(request, options, sent), options)
        .catch((error) => {
          if (isLocked(error)) return locks.before(request, scan)
          throw error
        })
    return locks.has(request.text) ? locks.before(request, scan) : scan()
  }
}
