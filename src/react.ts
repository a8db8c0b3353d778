import { useCallback, useInsertionEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import type { Live } from './client/live/live-of.ts'
import type { LiveSnapshot, LiveStatus } from './client/live/live-query.ts'
import { liveStore } from './client/react/live-store.ts'

/** A record as `useRecord` returns it. */
export interface RecordSnapshot<Row> {
  /** Undefined until it was read, and when there is no such record. */
  readonly record: Row | undefined
  readonly status: LiveStatus
  /** Why the service ended the query, or the last error of the connection. */
  readonly error?: Error | undefined
}

/** The state of a function of `useWrite`. */
export interface WriteState {
  /** Whether a call is not settled yet. */
  readonly isPending: boolean
  /** Why the last call was rejected. */
  readonly error: Error | undefined
}

/**
 * The rows of a live query: `useLive(() => api.pet.live({ where: { kind } }), [kind])`. The query is open while the
 * component is mounted, and opened again when one of the dependencies changes. A function that returns undefined opens none.
 */
export function useLive<Row>(open: () => Live<Row> | undefined, dependencies: readonly unknown[]): LiveSnapshot<Row> {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller lists them
  const store = useMemo(() => liveStore(open), dependencies)
  return useSyncExternalStore(store.subscribe, store.getSnapshot, store.getSnapshot)
}

/** The first row of a live query: `useRecord(() => api.pet.live({ where: { id } }), [id])`. */
export function useRecord<Row>(
  open: () => Live<Row> | undefined,
  dependencies: readonly unknown[],
): RecordSnapshot<Row> {
  const { rows, status, error } = useLive(open, dependencies)
  return { record: rows[0], status, error }
}

/**
 * A function that writes, and the state of its calls: `const [rename, { isPending, error }] = useWrite((id, name) =>
 * api.pet.update(id, { name }, { optimistic: true }))`. The function does not reject: it resolves with undefined instead.
 */
export function useWrite<Args extends readonly unknown[], T>(
  write: (...args: Args) => Promise<T>,
): readonly [(...args: Args) => Promise<T | undefined>, WriteState] {
  const [state, setState] = useState<{ readonly pending: number; readonly error: Error | undefined }>({
    pending: 0,
    error: undefined,
  })
  const latest = useRef(write)
  // A render may be of a component that is not displayed yet, or never.
  useInsertionEffect(() => {
    latest.current = write
  })
  const run = useCallback(async (...args: Args) => {
    setState(({ pending }) => ({ pending: pending + 1, error: undefined }))
    try {
      const result = await latest.current(...args)
      setState(({ pending, error }) => ({ pending: pending - 1, error }))
      return result
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      setState(({ pending }) => ({ pending: pending - 1, error }))
      return undefined
    }
  }, [])
  return [run, { isPending: state.pending > 0, error: state.error }]
}
