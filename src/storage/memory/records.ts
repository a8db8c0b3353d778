import type { Selection } from '../../criteria/criteria.ts'
import type { Attribute } from '../../model/model.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { type Embedded, type Records, requireLength } from '../store.ts'

/** Records over rows that are objects. */
export class MemoryRecords implements Records {
  readonly #rows: readonly JsonObject[]
  readonly #selection: Selection
  readonly #members: readonly Embedded[]
  readonly next: readonly unknown[] | undefined

  constructor(
    rows: readonly JsonObject[],
    selection: Selection,
    next?: readonly unknown[],
    members: readonly Embedded[] = [],
  ) {
    this.#rows = rows
    this.#selection = selection
    this.next = next
    this.#members = members
  }

  get length(): number {
    return this.#rows.length
  }

  values({ name }: Attribute): readonly Json[] {
    return this.#rows.map((row) => row[name] ?? null)
  }

  encodeAt(index: number, maxBytes?: number): string {
    const text = JSON.stringify(this.#recordAt(index))
    requireLength(text, maxBytes)
    return text
  }

  pieces(index: number, maxBytes?: number): Iterable<string> {
    return [this.encodeAt(index, maxBytes)]
  }

  get size(): number {
    return this.#members.reduce((sum, { size = 0 }) => sum + size, this.length)
  }

  decode(): readonly JsonObject[] {
    return this.#rows.map((_, index) => this.decodeAt(index))
  }

  decodeAt(index: number): JsonObject {
    return structuredClone(this.#recordAt(index))
  }

  embedded(name: string): Records | undefined {
    return this.#members.find((member) => member.name === name)?.records?.()
  }

  embed(members: readonly Embedded[]): Records {
    return new MemoryRecords(this.#rows, this.#selection, this.next, [
      ...this.#members.filter(({ name }) => members.every((member) => member.name !== name)),
      ...members,
    ])
  }

  #recordAt(index: number): JsonObject {
    const row = this.#rows[index] as JsonObject
    const shown = this.#selection.map(({ name }) => [name, row[name] as Json])
    return Object.fromEntries([...shown, ...this.#members.map((member) => [member.name, member.decode(index)])])
  }
}
