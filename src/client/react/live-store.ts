import type { Live } from '../live/live-of.ts'
import type { LiveListener, LiveSnapshot } from '../live/live-query.ts'
import { atNextFrame } from './next-frame.ts'

/** A live query in the form that `useSyncExternalStore` takes: open while it has a subscriber. */
export interface LiveStore<Row> {
  subscribe(listener: () => void): () => void
  getSnapshot(): LiveSnapshot<Row>
}

const empty: LiveSnapshot<never> = { rows: [], status: 'catching-up' }

/**
 * React renders after each notification of an external store at once. Changes of others may be many, so that they are one
 * notification per frame; first rows, another status and writes of this client are notified at once.
 */
export function liveStore<Row>(open: () => Live<Row> | undefined): LiveStore<Row> {
  let query: Live<Row> | undefined
  let shown: LiveSnapshot<Row> = empty
  const listeners = new Set<() => void>()
  const show = (): void => {
    const snapshot = query?.getSnapshot() ?? shown
    if (snapshot === shown) return
    shown = snapshot
    for (const listener of listeners) listener()
  }
  const onChange: LiveListener<Row> = ({ status }, isOfStream) => {
    if (isOfStream && status === shown.status) atNextFrame(show)
    else show()
  }
  return {
    subscribe(listener) {
      listeners.add(listener)
      if (!query) {
        query = open()
        query?.subscribe(onChange)
        // A query that is opened again begins without rows, and so does what is displayed.
        shown = query?.getSnapshot() ?? shown
      }
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        query?.close()
        query = undefined
      }
    },
    getSnapshot: () => shown,
  }
}
