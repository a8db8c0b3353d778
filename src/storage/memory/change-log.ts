import type { Change, Position } from '../../protocol/change.ts'
import type { ChangeBatch, ChangeLog, IsWanted, Keep } from '../change-log.ts'
import { ChangeNotifier } from '../change-notifier.ts'

type Entry = Omit<Change, 'position' | 'operation' | 'at'>

/** A change log in memory. It contains the writes of this process only and ends with it. */
export class MemoryChangeLog implements ChangeLog {
  readonly #nonce: string
  readonly #now: () => number
  readonly #wake = new ChangeNotifier()
  #changes: { readonly seq: number; readonly change: Change }[] = []
  #last = 0
  #floor = 0
  /** The positions of jobs. */
  heldPositions: () => readonly Position[] = () => []
  readonly limitation = 'Changes made by other programs are not captured, and the log does not survive a restart'

  constructor(nonce: string, now: () => number) {
    this.#nonce = nonce
    this.#now = now
  }

  /** Appends the changes of one committed operation, and returns its number; undefined when there are none. */
  append(entries: readonly Entry[]): string | undefined {
    if (entries.length === 0) return undefined
    const operation = String(this.#last + 1)
    const at = new Date(this.#now()).toISOString()
    const position = this.#position(this.#last + entries.length)
    for (const entry of entries)
      this.#changes.push({ seq: ++this.#last, change: { position, operation, at, ...entry } })
    this.#wake.call()
    return operation
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
    // An empty batch means the end of the log, so a batch of unwanted changes is skipped.
    return changes.length === 0 && last ? this.read(position, limit, isWanted) : { changes, position }
  }

  includes(position: Position, change: Change): boolean {
    return Number(change.position.split('.')[1]) <= Number(position.split('.')[1])
  }

  reaches(position: Position, target: Position): boolean | undefined {
    const [nonce, seq] = target.split('.')
    if (nonce !== this.#nonce || !Number.isInteger(Number(seq))) return undefined
    return Number(position.split('.')[1]) >= Number(seq)
  }

  onChange(listener: () => void): Disposable {
    return this.#wake.add(listener)
  }

  isKept(position: Position): boolean {
    const seq = this.#seqOf(position)
    return seq >= this.#floor && seq <= this.#last
  }

  async trim({ forJobs, ...keep }: Keep): Promise<void> {
    const held = this.heldPositions()
      .map((position) => this.#seqOf(position))
      .filter((seq) => seq >= this.#floor)
    const slowest = forJobs ? Math.min(...held) : Number.POSITIVE_INFINITY
    const isKept = (seq: number, at: string, { ageMs, rows }: Keep): boolean =>
      seq > this.#last - rows && at >= new Date(this.#now() - ageMs).toISOString()
    this.#changes = this.#changes.filter(
      ({ seq, change: { at } }) =>
        isKept(seq, at, keep) || (forJobs !== undefined && seq > slowest && isKept(seq, at, forJobs)),
    )
    this.#floor = (this.#changes[0]?.seq ?? this.#last + 1) - 1
  }

  /** -1 for a position of another log. */
  #seqOf(position: Position): number {
    const [nonce, seq] = position.split('.')
    return nonce === this.#nonce && /^\d+$/.test(seq ?? '') ? Number(seq) : -1
  }

  #position(seq: number): Position {
    return `${this.#nonce}.${seq}`
  }
}
