import type { Change, Position } from '../../protocol/change.ts'
import type { ChangeBatch, ChangeLog, IsWanted } from '../change-log.ts'
import { Wake } from '../wake.ts'

type Entry = Omit<Change, 'position' | 'operation' | 'at'>

/** A log fed by our own writes. It dies with the process and knows nothing of what others write. */
export class MemoryChangeLog implements ChangeLog {
  readonly #nonce: string
  readonly #now: () => number
  readonly #wake = new Wake()
  #changes: { readonly seq: number; readonly change: Change }[] = []
  #last = 0
  #floor = 0
  readonly caveat = 'Changes made by other programs are not seen, and none survive a restart'

  constructor(nonce: string, now: () => number) {
    this.#nonce = nonce
    this.#now = now
  }

  /** The changes of one operation, after it has happened. */
  append(entries: readonly Entry[]): void {
    if (entries.length === 0) return
    const operation = String(this.#last + 1)
    const at = new Date(this.#now()).toISOString()
    const position = this.#position(this.#last + entries.length)
    for (const entry of entries)
      this.#changes.push({ seq: ++this.#last, change: { position, operation, at, ...entry } })
    this.#wake.call()
  }

  head(): Position {
    return this.#position(this.#last)
  }

  tail(): Position {
    return this.#position(this.#floor)
  }

  read(after: Position, limit: number, isWanted: IsWanted = () => true): ChangeBatch | 'reset' {
    const [nonce, text] = after.split('.')
    const seq = Number(text)
    if (nonce !== this.#nonce || !Number.isInteger(seq) || seq < this.#floor || seq > this.#last) return 'reset'
    const later = this.#changes.filter((entry) => entry.seq > seq)
    const whole = later.slice(0, limit)
    const operation = whole.at(-1)?.change.operation
    for (let index = limit; later[index]?.change.operation === operation && index < later.length; index++) {
      whole.push(later[index] as (typeof later)[number])
    }
    const last = whole.at(-1)
    const changes = whole.map(({ change }) => change).filter(({ model }) => isWanted(model))
    const position = last ? last.change.position : after
    // Nothing is the answer at the end of the log, and not before.
    return changes.length === 0 && last ? this.read(position, limit, isWanted) : { changes, position }
  }

  covers(position: Position, change: Change): boolean {
    return Number(change.position.split('.')[1]) <= Number(position.split('.')[1])
  }

  onWake(listener: () => void): Disposable {
    return this.#wake.add(listener)
  }

  async trim(keep: { readonly ageMs: number; readonly rows: number }): Promise<void> {
    const oldest = new Date(this.#now() - keep.ageMs).toISOString()
    const from = this.#last - keep.rows
    this.#changes = this.#changes.filter(({ seq, change }) => seq > from && change.at >= oldest)
    this.#floor = (this.#changes[0]?.seq ?? this.#last + 1) - 1
  }

  #position(seq: number): Position {
    return `${this.#nonce}.${seq}`
  }
}
