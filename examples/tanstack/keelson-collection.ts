import type { CollectionConfig } from '@tanstack/db'
import type { Live, WriteOptions } from 'keelson/client'

/** The records of a model as `createClient` has them, as far as a collection uses them. */
interface Records<Row> {
  create(values: never, call: WriteOptions): Promise<unknown>
  update(id: never, values: never, call: WriteOptions): Promise<unknown>
  destroy(id: never, call: WriteOptions): Promise<unknown>
  readonly live: (options?: never) => Live<Row>
}

export interface KeelsonCollection<Row> {
  readonly records: Records<Row>
  /** Opens the live query whose rows the collection has: `() => api.task.live({ where: { done: false } })`. */
  readonly open: () => Live<Row>
  readonly getKey: (row: Row) => string | number
  /** What the service assigns: left out of the values of a new record. Default: `id` and the timestamps. */
  readonly assigned?: readonly string[]
}

/**
 * A collection of TanStack DB over a live query. Its own optimistic state ends with the answer of a write. From then on the
 * client shows the write in the rows until the stream has passed its operation, which the token of the answer names: no
 * change is taken for another one's confirmation, and no older value is displayed in between.
 */
export function keelsonCollection<Row extends object>({
  records,
  open,
  getKey,
  assigned = ['id', 'createdAt', 'updatedAt'],
}: KeelsonCollection<Row>): CollectionConfig<Row, string | number> {
  const optimistic = { optimistic: true }
  const withoutAssigned = (row: object) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !assigned.includes(name)))
  return {
    getKey,
    sync: {
      sync({ begin, write, commit, markReady, markError }) {
        const live = open()
        let known = new Map<string | number, Row>()
        const apply = () => {
          const rows = new Map(live.rows.map((row) => [getKey(row), row]))
          begin()
          for (const [key, row] of known) if (!rows.has(key)) write({ type: 'delete', value: row })
          for (const [key, row] of rows)
            if (!known.has(key)) write({ type: 'insert', value: row })
            else if (known.get(key) !== row) write({ type: 'update', value: row })
          commit()
          known = rows
        }
        live.subscribe(apply)
        live.ready.then(() => markReady(), markError)
        return () => live.close()
      },
    },
    onInsert: ({ transaction }) =>
      all(transaction.mutations, ({ modified }) => records.create(withoutAssigned(modified) as never, optimistic)),
    onUpdate: ({ transaction }) =>
      all(transaction.mutations, ({ key, changes }) => records.update(key as never, changes as never, optimistic)),
    onDelete: ({ transaction }) => all(transaction.mutations, ({ key }) => records.destroy(key as never, optimistic)),
  }
}

const all = <T>(list: readonly T[], send: (item: T) => Promise<unknown>): Promise<unknown[]> =>
  Promise.all(list.map(send))
