import { availableParallelism } from 'node:os'
import type { Reader, Row, Statement } from '../../driver.ts'
import type { ReadOptions } from '../../store.ts'
import { abortedRead, WaitQueue } from '../../wait-queue.ts'

/** Bounds the scans that run at once, on whichever connections: each takes a processor of the server. */
export class ScanSlots {
  readonly #size: number
  readonly #waiting: WaitQueue<void>
  #used = 0

  constructor(size: number, waitMs: number) {
    this.#size = size
    this.#waiting = new WaitQueue('place for a scan', waitMs)
  }

  /** Whether a scan would have to wait. */
  get areTaken(): boolean {
    return this.#used >= this.#size
  }

  /** Throws `busy` and `aborted` as a pool does. */
  async use<T>(scan: () => Promise<T>, options: ReadOptions = {}): Promise<T> {
    if (options.signal?.aborted) throw abortedRead()
    if (this.areTaken) await this.#waiting.wait(options)
    else this.#used++
    try {
      return await scan()
    } finally {
      const next = this.#waiting.take()
      if (next) next.resolve()
      else this.#used--
    }
  }
}

/** What a snapshot asks before a statement. */
export interface ScanAdmission {
  readonly slots: ScanSlots
  /** Whether the statement may read whole tables; undefined until its plan is known. */
  readonly mayScan: (statement: Statement) => boolean | undefined
  readonly explain: (statement: Statement) => Promise<void>
}

/**
 * The reader of one snapshot. Its scans run one after the other, each in a slot: however many it has, no more than one
 * waits for a slot, so that the scans of others have their turn in between.
 */
export function readerWithSlots(reader: Reader, admission: ScanAdmission, { signal }: ReadOptions): Reader {
  const { slots, mayScan, explain } = admission
  let last: Promise<unknown> = Promise.resolve()
  const readInTurn = async (statement: Statement, options: ReadOptions | undefined): Promise<readonly Row[]> => {
    if (mayScan(statement) === undefined) {
      const explained = explain(statement)
      if (slots.areTaken) await explained
    }
    const read = async (): Promise<readonly Row[]> => reader.read(statement, options)
    return mayScan(statement) === false ? read() : slots.use(read, { signal })
  }
  return {
    read(statement, options) {
      if (mayScan(statement) === false) return reader.read(statement, options)
      const rows = last.then(() => readInTurn(statement, options))
      last = rows.catch(() => {}) // reported to the caller
      return rows
    },
  }
}

/** A server on this machine shares its processors with this process; one of them is taken by neither all the time. */
export function scansAtOnce(url: string, maxServerScans: number): number {
  return isOnThisMachine(url) ? Math.min(maxServerScans, Math.max(2, availableParallelism())) : maxServerScans
}

function isOnThisMachine(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : ''
  return host === '' || host === 'localhost' || host.startsWith('127.') || host === '[::1]'
}
