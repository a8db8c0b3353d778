interface MapLike<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): unknown
}

/** The value of a key; if absent, it is computed and stored. */
export function getOrInsertComputed<K, V>(map: MapLike<K, V>, key: K, compute: () => V): V {
  const existing = map.get(key)
  if (existing !== undefined) return existing
  const computed = compute()
  map.set(key, computed)
  return computed
}
