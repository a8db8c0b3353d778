interface Keeps<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): unknown
}

/** What a map holds for a key, made when it holds nothing yet. */
export function entry<K, V>(map: Keeps<K, V>, key: K, make: () => V): V {
  const held = map.get(key)
  if (held !== undefined) return held
  const made = make()
  map.set(key, made)
  return made
}
