import { createHash } from 'node:crypto'
import type { Change, Position } from '../../../protocol/change.ts'
import { eventLoopTurn } from '../../../support/event-loop-turn.ts'
import type { ByteBudget } from '../../byte-budget.ts'
import type { ChangeBatch, IsWanted, Keep, SqlChangeLog } from '../../change-log.ts'
import type { Driver, Query, Row } from '../../driver.ts'
import { arrayOf } from '../client/text-form.ts'
import type { LogCaptures } from './log-captures.ts'
import { inOrder, type LogRow, logColumns, logRowsOf } from './log-rows.ts'
import { historyOf, type LogTables, restartIfCopied } from './log-tables.ts'
import { type Operation, OperationPlans } from './operation-plans.ts'
import {
  covers,
  type DecodedPosition,
  decodePosition,
  encodePosition,
  isAhead,
  parseSnapshot,
  type Snapshot,
  sees,
} from './position.ts'
import { ReadSize } from './read-size.ts'
import { trim } from './trim.ts'

/** An operation of more rows is not read into memory but answered with `reset`. */
const longestOperation = 50_000
/** Connections with a known history, by server process id and start of the server. */
const mostBackends = 1_000

/** The parameters of one read. */
interface ReadParameters {
  readonly limit: number
  readonly isWanted: IsWanted
  /** For each statement that reads images. */
  readonly budget: () => ByteBudget | undefined
}

/** The state of the log in the snapshot of a read. */
interface LogState {
  readonly history: string
  readonly floor: bigint
  readonly now: Snapshot
}

/**
 * Changes are ordered by snapshots; the changes that one snapshot sees and the one before did not are ordered by the last
 * log row of their transaction. A row is locked until its writer commits, so of two transactions that changed the same
 * row, the later one wrote its log rows after all log rows of the earlier one.
 */
export class PostgresChangeLog implements SqlChangeLog {
  readonly #driver: Driver
  readonly #tables: LogTables
  readonly #captures: LogCaptures
  readonly #readSize = new ReadSize()
  readonly #notifier: (listener: () => void) => Disposable
  #history: { readonly nonce: string; readonly backends: Set<string>; readonly text: string } | undefined
  readonly #plans: OperationPlans
  readonly limitation: string | undefined
  readonly size: () => Promise<number>
  readonly uncaptured: () => Promise<readonly string[]>

  constructor(parts: {
    driver: Driver
    tables: LogTables
    captures: LogCaptures
    onChange: (listener: () => void) => Disposable
    size: () => Promise<number>
    uncaptured: () => Promise<readonly string[]>
    limitation: string | undefined
  }) {
    this.#driver = parts.driver
    this.#tables = parts.tables
    this.#captures = parts.captures
    this.#plans = new OperationPlans((text, values) => this.#query(text, values), parts.tables.log)
    this.#notifier = parts.onChange
    this.size = parts.size
    this.uncaptured = parts.uncaptured
    this.limitation = parts.limitation
  }

  head(): Promise<Position> {
    return this.headIn((text, values) => this.#query(text, values))
  }

  async headIn(query: Query): Promise<Position> {
    const [row] = await query(`select ${stateColumns} from ${stateIn(this.#tables)}`, [])
    const { history, now } = await this.#stateOf(row as Row)
    return encodePosition({ history, from: now })
  }

  includes(position: Position, { operation, position: own }: Change): boolean {
    const place = decodePosition(position)
    if (!place) return false
    if (!place.inside) return sees(place.from, operation)
    const seq = decodePosition(own)?.inside?.seq
    return (
      sees(place.from, operation) ||
      (sees(place.inside.until, operation) && seq !== undefined && seq <= place.inside.seq)
    )
  }

  reaches(position: Position, target: Position): boolean | undefined {
    const own = decodePosition(position)
    if (own && isAhead(target, own)) return false
    const other = decodePosition(target)
    if (!own || !other || own.history !== other.history) return undefined
    return position === target || covers(own.from, other.inside?.until ?? other.from)
  }

  async tail(): Promise<Position> {
    const [row] = await this.#query(`select ${stateColumns} from ${stateIn(this.#tables)}`, [])
    const { history, floor } = await this.#stateOf(row as Row)
    return encodePosition({ history, from: parseSnapshot(`${floor}:${floor}:`) as Snapshot })
  }

  async read(after: Position, limit: number, isWanted: IsWanted = () => true): Promise<ChangeBatch | 'reset'> {
    const place = decodePosition(after)
    if (!place) return 'reset'
    return this.#readSize.fit(limit, (limit, budget) => {
      const reading = { limit, isWanted, budget }
      return place.inside ? this.#readInside(place, place.inside, reading) : this.#readNew(place, place.from, reading)
    })
  }

  /**
   * The changes that are visible now and were not in `from`: later transactions, and those that were running. `place` is
   * the position of the reader: no change between it and `from` may have been trimmed.
   */
  async #readNew(place: DecodedPosition, from: Snapshot, reading: ReadParameters): Promise<ChangeBatch | 'reset'> {
    const { limit, isWanted, budget } = reading
    const { history } = place
    const { log } = this.#tables
    const rows = (condition: string) => `(select ${logColumns('$4')} from ${log} where ${condition} limit $3::int)`
    const found = await this.#query(
      `select ${stateColumns}, l.* from ${stateIn(this.#tables)} left join (${rows('tx >= $1::xid8')} union all ${rows('tx = any($2::xid8[])')}) l on true`,
      [String(from.xmax), arrayOf(from.running), String(limit + 1), this.#unwanted(isWanted)],
      budget(),
    )
    const state = await this.#stateOf(found[0] as Row)
    if (!holds(state, place)) return 'reset'
    const changed = found.filter((row) => row[stateWidth] !== null)
    if (changed.length > limit) return this.#readInside({ history, from }, { until: state.now, seq: 0n }, reading)
    const batch = await this.#batch(
      await logRowsOf(changed, stateWidth),
      { history, from, inside: { until: state.now, seq: 0n } },
      encodePosition({ history, from: state.now }),
      isWanted,
    )
    return batch === 'not sent' ? this.#readNew(place, from, reading) : batch
  }

  /** A part of the changes that `until` sees and `from` does not. */
  async #readInside(
    place: DecodedPosition,
    inside: NonNullable<DecodedPosition['inside']>,
    reading: ReadParameters,
  ): Promise<ChangeBatch | 'reset'> {
    const { limit, isWanted } = reading
    const { operations, isComplete } = await this.#plans.next(place.from, inside.until, inside.seq)
    const rest = operations.filter(({ last }) => last > inside.seq)
    const taken: Operation[] = []
    for (let rows = 0, index = 0; rows < limit && index < rest.length; index++) {
      const operation = rest[index] as Operation
      if (operation.rows > longestOperation) return 'reset'
      taken.push(operation)
      rows += operation.rows
    }
    const last = taken.at(-1)
    if (last === undefined) return this.#readNew(place, inside.until, reading)
    const isLast = isComplete && taken.length === rest.length
    const end = isLast
      ? encodePosition({ history: place.history, from: inside.until })
      : encodePosition({ ...place, inside: { until: inside.until, seq: last.last } })
    const batch = await this.#readOperations(taken, { ...place, inside }, end, reading)
    // An empty batch means the end of the log, so a batch without wanted changes is skipped.
    return batch !== 'reset' && batch.changes.length === 0 ? this.read(batch.position, limit, isWanted) : batch
  }

  async #readOperations(
    operations: readonly Operation[],
    place: Required<DecodedPosition>,
    end: Position,
    reading: ReadParameters,
  ): Promise<ChangeBatch | 'reset'> {
    const { isWanted, budget } = reading
    const found = await this.#query(
      `select ${stateColumns}, l.* from ${stateIn(this.#tables)} left join (select ${logColumns('$2')} from ${this.#tables.log} where tx = any($1::xid8[])) l on true`,
      [arrayOf(operations.map(({ tx }) => tx)), this.#unwanted(isWanted)],
      budget(),
    )
    if (!holds(await this.#stateOf(found[0] as Row), place)) return 'reset'
    const batch = await this.#batch(await logRowsOf(found, stateWidth), place, end, isWanted)
    return batch === 'not sent' ? this.#readOperations(operations, place, end, reading) : batch
  }

  /** `end` is the position after all of the rows. `'not sent'`: a listener that wants more has come since they were asked for. */
  async #batch(
    rows: LogRow[],
    place: Required<DecodedPosition>,
    end: Position,
    isWanted: IsWanted,
  ): Promise<ChangeBatch | 'reset' | 'not sent'> {
    await this.#captures.learn(rows)
    const changes: Change[] = []
    const operations = inOrder(rows)
    for (const [index, operation] of operations.entries()) {
      const until = place.inside?.until as Snapshot
      const seq = operation.at(-1)?.seq as bigint
      const position = index === operations.length - 1 ? end : encodePosition({ ...place, inside: { until, seq } })
      for (const row of operation) {
        const found = this.#captures.changesOf(row, position, isWanted)
        if (found === undefined) return 'reset'
        if (found === 'not sent') return found
        changes.push(...found)
        if (eventLoopTurn.isUsed) await eventLoopTurn.next()
      }
    }
    return { changes, position: end, bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0) }
  }

  onChange(listener: () => void): Disposable {
    return this.#notifier(listener)
  }

  async isKept(position: Position): Promise<boolean> {
    const place = decodePosition(position)
    if (!place) return false
    const [row] = await this.#query(`select ${stateColumns} from ${stateIn(this.#tables)}`, [])
    return holds(await this.#stateOf(row as Row), place)
  }

  async renewed(position: Position, query: Query = (text, values) => this.#query(text, values)): Promise<Position> {
    const place = decodePosition(position)
    if (!place) return position
    const present = decodePosition(await this.headIn(query))?.history ?? ''
    const isSameLog = nonceIn(place.history) === nonceIn(present)
    return isSameLog ? encodePosition({ ...place, history: present }) : position
  }

  trim(keep: Keep): Promise<void> {
    return trim(this.#driver, this.#tables, keep)
  }

  #unwanted(isWanted: IsWanted): string {
    return arrayOf(this.#captures.unwanted(isWanted).map(String))
  }

  async #query(text: string, values: readonly unknown[], budget?: ByteBudget): Promise<readonly Row[]> {
    return this.#driver.query(text, values, { budget })
  }

  async #stateOf([nonce, floor, now, backend]: Row): Promise<LogState> {
    const history = await this.#historyOf(nonce as string, backend as string)
    return { history, floor: BigInt(floor as string), now: parseSnapshot(now as string) as Snapshot }
  }

  /**
   * Cached for each connection: everything that begins another history of the server ends its connections. A process number
   * alone may be that of a connection to an earlier server, as in containers.
   */
  async #historyOf(nonce: string, backend: string): Promise<string> {
    const known = this.#history
    if (known?.nonce === nonce && known.backends.has(backend)) return known.text
    const [value = ''] = nonce.split(' ')
    if (await restartIfCopied(this.#driver, this.#tables)) return `${value}-` // no position is of this history
    const history = await historyOf((text) => this.#query(text, []))
    const text = `${value}-${createHash('sha1').update(`${nonce} ${history}`).digest('hex').slice(0, 12)}`
    const backends = known?.text === text && known.backends.size < mostBackends ? known.backends : new Set<string>()
    this.#history = { nonce, backends: backends.add(backend), text }
    return text
  }
}

/** The part of a history that identifies the log; another history of the server does not change it. */
const nonceIn = (history: string): string => history.slice(0, history.indexOf('-'))

const stateColumns = 'm.nonce, m.floor, m.now, m.backend'
const stateWidth = 4
/** With the transaction that wrote the nonce: a dump that is restored in the same database contains its text. */
const stateIn = ({ meta }: LogTables): string =>
  `(select (select value || ' ' || xmin from ${meta} where name = 'nonce') as nonce, (select value from ${meta} where name = 'floor') as floor,
    pg_current_snapshot()::text as now, pg_backend_pid() || ' ' || pg_postmaster_start_time() as backend) m`

/**
 * Whether all changes after the position are kept. Trimmed changes are older than the floor, and a snapshot that begins
 * at the floor has seen all of them.
 */
const holds = ({ history, floor, now }: LogState, place: DecodedPosition): boolean =>
  place.history === history &&
  place.from.xmin >= floor &&
  place.from.xmax <= now.xmax &&
  (place.inside === undefined || place.inside.until.xmax <= now.xmax)
