import { Lru } from '../../../support/lru.ts'
import type { CostClass, Row, Scan, Statement } from '../../driver.ts'
import type { QueryRequest } from './text-query.ts'

const keptPlans = 1000
/** A plan is asked for again after this time: tables grow, and indexes come and go. */
const planMs = 60_000

/** In the planner's unit, the read of one page: above this, reading a whole table delays other statements. */
const maxScanCost = 500
/** Above this a statement reads too much, even by index. */
const maxTotalCost = 50_000

/** *walk*: expected to find its page near the beginning of an index, and bounded by nothing but that. */
export type PlanClass = CostClass | 'walk'

interface Plan {
  readonly planClass: PlanClass
  readonly until: number
}

/** A node of `explain (format json)`, as far as it is read. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Total Cost': number
  readonly 'Index Cond'?: string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly PlanNode[]
}

/** The class of each statement, from EXPLAIN and from what its runs have taken. */
export class QueryPlans {
  readonly #onScan: (scan: Scan) => void
  readonly #plans = new Lru<string, Plan>(keptPlans)

  constructor(onScan: (scan: Scan) => void) {
    this.#onScan = onScan
  }

  /** The class of the plan of a statement; undefined until it is known. */
  classOf(text: string): PlanClass | undefined {
    const plan = this.#plans.get(text)
    return plan && plan.until > performance.now() ? plan.planClass : undefined
  }

  /** Whether the statement may read whole tables; undefined until its plan is known. */
  mayScan(text: string): boolean | undefined {
    const planClass = this.classOf(text)
    return planClass && planClass === 'scan'
  }

  async explain(
    { text, values, access, shape }: Statement,
    run: (request: QueryRequest) => Promise<readonly Row[]>,
  ): Promise<void> {
    try {
      const rows = await run({ text: `explain (format json) ${text}`, values, how: 'anew' })
      const plan = planOf(rows)
      const tables = scannedTables(plan, access === 'page')
      const isWalk = tables !== undefined && plan['Total Cost'] <= maxScanCost
      this.#keep(text, tables === undefined ? 'indexed' : isWalk ? 'walk' : 'scan')
      if (tables && !isWalk) this.#onScan({ text, shape, tables })
    } catch {
      // Its plan stays unknown, so it runs in the pool and is explained again.
    }
  }

  /** The statement has taken longer than its plan promised. */
  demote(text: string): void {
    this.isolate(text)
    this.#onScan({ text, tables: [] })
  }

  /** From now on the statement runs where it delays no other. */
  isolate(text: string): void {
    this.#keep(text, 'scan')
  }

  #keep(text: string, planClass: PlanClass): void {
    this.#plans.set(text, { planClass, until: performance.now() + planMs })
  }
}

const planOf = (rows: readonly Row[]): PlanNode =>
  (JSON.parse(rows.map(([line]) => line as string).join('\n')) as [{ Plan: PlanNode }])[0].Plan

/**
 * The tables that a plan reads as a whole; undefined when its cost is bounded. A page without a condition reads its table
 * in the order of an index and stops at its limit, which the total cost shows.
 */
export function scannedTables(plan: PlanNode, isPage: boolean): readonly string[] | undefined {
  if (isPage) return plan['Total Cost'] > maxScanCost ? tablesOf(plan) : undefined
  const scans = nodesOf(plan).filter(isLargeScan)
  if (scans.length > 0) return scans.flatMap(tablesOf)
  return plan['Total Cost'] > maxTotalCost ? [] : undefined
}

/** Index scans without a condition read the whole index. A bitmap heap scan has its condition in its child. */
const isLargeScan = (node: PlanNode): boolean =>
  node['Relation Name'] !== undefined &&
  node['Node Type'] !== 'Bitmap Heap Scan' &&
  node['Index Cond'] === undefined &&
  node['Total Cost'] > maxScanCost

const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

const tablesOf = (plan: PlanNode): readonly string[] => nodesOf(plan).flatMap((node) => node['Relation Name'] ?? [])
