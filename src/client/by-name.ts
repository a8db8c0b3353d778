/** An object whose members are made when they are first used: the client does not know the names of the models. */
export function byName<T>(make: (name: string) => T): Readonly<Record<string, T>> {
  const made = new Map<string | symbol, T>()
  return new Proxy({} as Record<string, T>, {
    get(_, name) {
      // A symbol is a question of the runtime; `then` is asked by `await`.
      if (typeof name === 'symbol' || name === 'then') return undefined
      const known = made.get(name) ?? make(name)
      made.set(name, known)
      return known
    },
  })
}
