import { allHold, type Condition, oneByKey } from '../criteria/criteria.ts'
import { isIn } from '../criteria/modifiers/in.ts'
import type { Position, RecordId } from '../protocol/change.ts'
import { noSuchRecord, ServiceError } from '../protocol/errors.ts'
import type { Audience } from '../realtime/audience.ts'
import { operationsIn } from '../realtime/feed.ts'
import { Live, type LiveOptions } from '../realtime/live.ts'
import { eventsFor, type Watched } from '../realtime/watched.ts'
import type { Store } from '../storage/store.ts'
import { chain } from '../support/maybe.ts'

const readAtOnce = 500

/** What can be listened to here. */
export class Lives {
  readonly #store: Store
  readonly #audience: Audience

  constructor(store: Store, audience: Audience) {
    this.#store = store
    this.#audience = audience
  }

  /**
   * From `since` on, or from now. The first item is `ready`, or `reset` when `since` is gone; for a record that is not
   * there the taking of the first item fails with E_NO_SUCH_RECORD.
   */
  open(watched: Watched, since: Position | undefined, queue: LiveOptions['queue']): Live {
    return new Live({
      log: this.#store.changes,
      audience: this.#audience,
      watched,
      visible: (ids) => this.#visible(watched, ids),
      from: this.#begin(watched, since),
      isResumed: since !== undefined,
      queue,
    })
  }

  /** Everybody who listens is told to come back. */
  stop(): void {
    this.#audience.stop()
  }

  async #begin({ model, id }: Watched, since: Position | undefined): Promise<Position> {
    if (id === undefined) return since ?? this.#store.changes.head()
    const { value: isThere, position } = await this.#store.snapshot((reads) =>
      chain(reads.find(model, oneByKey(model, id)), ({ length }) => length > 0),
    )
    if (!isThere && (since === undefined || !(await this.#endsAfter(since, { model, id }))))
      throw noSuchRecord(model.name)
    return since ?? position
  }

  /** Whether somebody who resumes will still hear of a record's end. Else they would wait for ever for what is gone. */
  async #endsAfter(since: Position, watched: Watched): Promise<boolean> {
    for (let position = since; ; ) {
      const batch = await this.#store.changes.read(position, readAtOnce)
      if (batch === 'reset' || batch.changes.length === 0) return false
      for (const { events } of operationsIn(batch.changes, this.#audience.index)) {
        if (eventsFor(watched, events).some(({ verb }) => verb === 'destroyed')) return true
      }
      position = batch.position
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async #visible({ model, where }: Watched, ids: readonly RecordId[]): Promise<ReadonlySet<RecordId>> {
    const { primaryKey } = model
    const seen = new Set<RecordId>()
    for (let from = 0; from < ids.length; from += readAtOnce) {
      const some = ids.slice(from, from + readAtOnce)
      const oneOf: Condition = { kind: 'compare', attribute: primaryKey, modifier: isIn, operand: some }
      const found = await this.#store.find(model, {
        ...oneByKey(model, null),
        where: where ? allHold(oneOf, where) : oneOf,
        limit: some.length,
      })
      for (const id of found.values(primaryKey)) seen.add(id as RecordId)
    }
    return seen
  }
}

/** A condition that can be told from a record alone. Throws E_BAD_CRITERIA for one that needs other records too. */
export function ofRecordAlone(where: Condition): Condition {
  const related = associationIn(where)
  if (related === undefined) return where
  throw new ServiceError(
    'E_BAD_CRITERIA',
    `Listening takes conditions on the record itself, and "${related}" asks about other records`,
    { attribute: related },
  )
}

function associationIn(condition: Condition): string | undefined {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.map(associationIn).find((name) => name !== undefined)
    case 'not':
      return associationIn(condition.condition)
    case 'related':
      return condition.association.name
    case 'compare':
      return undefined
  }
}
