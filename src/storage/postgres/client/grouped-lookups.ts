import { ByteBudget } from '../../byte-budget.ts'
import type { DatabaseError, GroupedLookup, Row } from '../../driver.ts'
import { isLocked, isLost } from '../errors.ts'
import { type LongAnswers, longAnswer } from './long-answers.ts'
import { idlest, type PipelinedConnection } from './pipelined-connection.ts'
import { arrayOf } from './text-form.ts'
import type { QueryRequest } from './text-query.ts'

/** The keys of one statement. */
const maxKeys = 100
/** Records with longer rows, on average, are read one by one: none waits for the rows of others. */
const longestRow = 8_000
/** For how long. */
const aloneMs = 60_000

/** A lookup as a statement of its own, and what it is answered by. */
interface Lookup {
  readonly request: QueryRequest
  readonly resolve: (rows: readonly Row[]) => void
  readonly reject: (error: DatabaseError) => void
}

/**
 * Reads of one record by its key. Those of one turn of the event loop that differ in the key alone are sent at its end as one statement:
 * most of the time of a lookup is that of a statement and its messages. One that fails is sent again as a statement for each key, unless the
 * table is locked: each of them would wait as long as the first for others to be read.
 */
export class GroupedLookups {
  readonly #connections: readonly PipelinedConnection[]
  readonly #maxAnswerBytes: number
  readonly #long: LongAnswers
  /** Those of this turn. */
  readonly #groups = new Map<GroupedLookup, Lookup[]>()
  /** What is read one by one, and the time until which it is. */
  readonly #alone = new WeakMap<GroupedLookup, number>()

  constructor(connections: readonly PipelinedConnection[], maxAnswerBytes: number, long: LongAnswers) {
    this.#connections = connections
    this.#maxAnswerBytes = maxAnswerBytes
    this.#long = long
  }

  send(lookup: Lookup, group: GroupedLookup): void {
    const others = this.#groups.get(group)
    if (others && others.length < maxKeys) others.push(lookup)
    else this.#begin([lookup], group)
  }

  #begin(lookups: Lookup[], group: GroupedLookup): void {
    const connection = idlest(this.#connections)
    const isGrouped =
      !this.#isAlone(group) &&
      connection.beforeWriting(() => {
        if (this.#groups.get(group) === lookups) this.#groups.delete(group)
        if (lookups.length === 1) sendEach(connection, lookups)
        else this.#sendTogether(connection, lookups, group)
      })
    if (isGrouped) this.#groups.set(group, lookups)
    else sendEach(connection, lookups)
  }

  #sendTogether(connection: PipelinedConnection, lookups: readonly Lookup[], group: GroupedLookup): void {
    const budget = new ByteBudget(this.#maxAnswerBytes)
    const before = budget.left
    const keys = lookups.map(({ request }) => String(request.values[0]))
    const { text, values, keyAt } = group
    connection.send(
      { text, values: [arrayOf(keys), ...values], how: 'kept', budget },
      (rows) => {
        const bytes = before - budget.left
        if (bytes > rows.length * longestRow) this.#leaveAlone(group)
        if (bytes > rows.length * longAnswer) this.#long.add((lookups[0] as Lookup).request.text)
        const byKey = new Map<unknown, Row>()
        // The first one, as of a lookup by itself: a table that others inherit from may have several rows with a key.
        for (const row of rows) if (!byKey.has(row[keyAt])) byKey.set(row[keyAt], row)
        for (const [index, { resolve }] of lookups.entries()) {
          const row = byKey.get(keys[index])
          resolve(row ? [row] : [])
        }
      },
      (error) => {
        if (isLocked(error)) for (const { reject } of lookups) reject(error)
        else {
          if (!isLost(error)) this.#leaveAlone(group)
          sendEach(connection, lookups)
        }
      },
    )
  }

  #leaveAlone(group: GroupedLookup): void {
    this.#alone.set(group, performance.now() + aloneMs)
  }

  #isAlone(group: GroupedLookup): boolean {
    const until = this.#alone.get(group)
    return until !== undefined && until > performance.now()
  }
}

function sendEach(connection: PipelinedConnection, lookups: readonly Lookup[]): void {
  for (const { request, resolve, reject } of lookups) connection.send(request, resolve, reject)
}
