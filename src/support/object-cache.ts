/** A constructor that returns what it is given: a class that extends it adds its private field to that object. */
class Given {
  constructor(object: object) {
    // biome-ignore lint/correctness/noConstructorReturn: this is the purpose of the class
    return object
  }
}

/**
 * What a WeakMap does, with each value in a private field of its key. For keys that are made by requests, of which thousands may be
 * alive: a full garbage collection visits all entries of a WeakMap several times in one pause, and to add one takes ten times as long.
 * The field is not copied with the object, and is not seen from outside.
 */
export class ObjectCache<K extends object, V> {
  readonly #fields = fieldsOf<K, V>()

  get(key: K): V | undefined {
    return this.#fields.get(key)
  }

  set(key: K, value: V): void {
    this.#fields.set(key, value)
  }
}

/** A class has private fields of its own each time that it is evaluated. */
const fieldsOf = <K extends object, V>() =>
  class Fields extends Given {
    #value: V

    private constructor(key: K, value: V) {
      super(key)
      this.#value = value
    }

    static get(key: K): V | undefined {
      return #value in key ? key.#value : undefined
    }

    static set(key: K, value: V): void {
      if (#value in key) key.#value = value
      else new Fields(key, value)
    }
  }
