import type { Live } from '../live/live-of.ts'
import type { LiveSnapshot } from '../live/live-query.ts'

/** A live query in the form that `useSyncExternalStore` takes: open while it has a subscriber. */
export interface LiveStore<Row> {
  subscribe(listener: () => void): () => void
  getSnapshot(): LiveSnapshot<Row>
}

const empty: LiveSnapshot<never> = { rows: [], status: 'catching-up' }

export function liveStore<Row>(open: () => Live<Row> | undefined): LiveStore<Row> {
  let query: Live<Row> | undefined
  let last: LiveSnapshot<Row> = empty
  let subscribers = 0
  return {
    subscribe(listener) {
      subscribers++
      query ??= open()
      const unsubscribe = query?.subscribe((snapshot) => {
        last = snapshot
        listener()
      })
      return () => {
        unsubscribe?.()
        if (--subscribers > 0) return
        query?.close()
        query = undefined
      }
    },
    getSnapshot: () => query?.getSnapshot() ?? last,
  }
}
