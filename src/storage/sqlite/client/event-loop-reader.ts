import { eventLoopTurn } from '../../../support/event-loop-turn.ts'
import type { Limits } from '../../../support/limits.ts'
import { threadCpuMs } from '../../../support/thread-cpu-ms.ts'
import type { ByteBudget } from '../../byte-budget.ts'
import { DatabaseError, type Row, type Scan, type Statement } from '../../driver.ts'
import type { ReadOptions } from '../../store.ts'
import type { Connection } from './connection.ts'
import { type Plan, QueryPlans } from './query-plans.ts'
import { BudgetExceeded, type RowGuard } from './row-guard.ts'

/**
 * A statement that takes longer than this twice in succession, the second time measured in CPU time, goes to a reader
 * process from then on. On a busy machine the first time alone proves nothing: the process may have been suspended.
 */
const slowMs = 10
/** The second time it is stopped after this, and goes where most of it was CPU time. */
const secondRunMs = 12
const mostMs = 8
/** With less than this left in a turn, a statement is not begun. */
const leastMs = 2

/** Thrown for a statement that must not run on the event loop. */
export class NeedsReader extends Error {}

/** Runs the reads of bounded cost on the event loop, and no others. */
export class EventLoopReader {
  readonly #connection: Connection
  readonly #guard: RowGuard
  readonly #plans: QueryPlans
  readonly #limits: Limits

  constructor(connection: Connection, guard: RowGuard, limits: Limits, onScan: (scan: Scan) => void) {
    this.#connection = connection
    this.#guard = guard
    this.#plans = new QueryPlans(connection, onScan)
    this.#limits = limits
  }

  /** Throws NeedsReader for a scan, and for a statement that exceeds what is left of this turn of the event loop. */
  read(statement: Statement, connection: Connection, options?: ReadOptions): readonly Row[] {
    const { text, values, access } = statement
    if (access === 'key') return connection.readKey(text, values, options, this.#limits.maxAnswerBytes)
    const begin = performance.now()
    const plan = this.#plans.of(statement)
    const { slowRuns } = plan
    const isSecondRun = slowRuns.lastWasSlow
    const beginCpuMs = isSecondRun ? threadCpuMs() : undefined
    const leftMs = this.#limits.maxBlockMs - eventLoopTurn.usedMs
    const budgetMs = isSecondRun ? Math.min(leftMs, secondRunMs) : leftMs
    if (budgetMs < leastMs || plan.costClass === 'scan') throw new NeedsReader()
    try {
      const read = () => connection.read(text, values, options?.budget, options?.poll)
      const rows = this.#guard.limit(budgetMs, read, isSecondRun ? undefined : this.#limits.maxBlockMs / 2)
      if (performance.now() - begin > slowMs) this.#wasSlow(statement, plan, beginCpuMs, slowMs)
      else if (isSecondRun && !plan.isShared) slowRuns.lastWasSlow = false
      return rows
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error
      this.#wasSlow(statement, plan, beginCpuMs, mostMs)
      throw new NeedsReader()
    }
  }

  #wasSlow(statement: Statement, plan: Plan, beginCpuMs: number | undefined, limitMs: number): void {
    if (beginCpuMs === undefined) plan.slowRuns.lastWasSlow = true
    else if (threadCpuMs() - beginCpuMs > limitMs) this.#plans.demote(statement, plan)
    else if (!plan.isShared) plan.slowRuns.lastWasSlow = false
  }

  /** For a database that other processes cannot read: the statement runs here and fails after a time. */
  limited({ text, values }: Statement, timeoutMs: number, budget?: ByteBudget): readonly Row[] {
    try {
      return this.#guard.limit(timeoutMs, () => this.#connection.read(text, values, budget))
    } catch (error) {
      throw error instanceof BudgetExceeded ? new DatabaseError({ kind: 'timeout' }, error) : error
    }
  }
}
