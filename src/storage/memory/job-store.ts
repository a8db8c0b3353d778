import type { Position } from '../../protocol/change.ts'
import {
  type DeadLetter,
  type DeadLetterSelection,
  type JobClaim,
  type JobSave,
  type JobState,
  type JobStore,
  jobEventRowBytes,
  type NewWaitingEvent,
  type WaitingEvent,
} from '../job-store.ts'

interface Row {
  position: Position
  dueAt: number
  fence: number
  revision: number
  lostAt: number | undefined
  isHeld: boolean
}
type StoredEvent = NewWaitingEvent & { readonly id: number; readonly name: string; readonly at: number }

/** The progress of jobs in memory. It ends with the process, as the records do. */
export class MemoryJobStore implements JobStore {
  readonly #rows = new Map<string, Row>()
  #events: StoredEvent[] = []
  #last = 0

  async prepare(): Promise<void> {}

  async register(names: Parameters<JobStore['register']>[0]): Promise<void> {
    for (const { name, position, dueAt } of names) {
      if (!this.#rows.has(name))
        this.#rows.set(name, { position, dueAt, fence: 0, revision: 0, lostAt: undefined, isHeld: false })
    }
  }

  async claim(name: string): Promise<JobClaim | undefined> {
    const row = this.#rows.get(name)
    if (!row || row.isHeld) return undefined
    row.isHeld = true
    row.fence++
    return { ...row }
  }

  async renew(): ReturnType<JobStore['renew']> {
    return new Map([...this.#rows].filter(([, { isHeld }]) => isHeld))
  }

  async release(name: string): Promise<void> {
    const row = this.#rows.get(name)
    if (row) row.isHeld = false
  }

  async save(name: string, fence: number, save: JobSave): ReturnType<JobStore['save']> {
    const row = this.#rows.get(name)
    if (row?.fence !== fence) return 'fenced'
    const { position, dueAt, lostAt = row.lostAt, added, failed, done } = save
    Object.assign(row, { position, dueAt, lostAt })
    const changed = new Map(failed.map((run) => [run.id, run]))
    this.#events = this.#events
      .filter(({ id }) => !done.includes(id))
      .map((event) => ({ ...event, ...changed.get(event.id) }))
    return added.map((event) => {
      if (this.#events.some((other) => other.name === name && other.eventId === event.eventId)) return undefined
      this.#events.push({ ...event, name, id: ++this.#last, at: Date.now() })
      return this.#last
    })
  }

  async waiting(name: string, after: number, limit: number): Promise<readonly WaitingEvent[]> {
    return this.#events.filter((event) => event.name === name && !event.isDead && event.id > after).slice(0, limit)
  }

  async text(id: number): Promise<string | undefined> {
    return this.#events.find((event) => event.id === id && !event.isDead)?.text
  }

  async states(): Promise<readonly JobState[]> {
    return [...this.#rows].map(([name, { position, dueAt, lostAt }]) => {
      const own = this.#events.filter((event) => event.name === name)
      const dead = own.filter(({ isDead }) => isDead).length
      return { name, position, dueAt, lostAt, dead, waiting: own.length - dead }
    })
  }

  async letters(selection: DeadLetterSelection): Promise<readonly DeadLetter[]> {
    return this.#events.filter(selectedBy(selection))
  }

  async retry(selection: DeadLetterSelection, now: number): Promise<number> {
    const selected = this.#events.filter(selectedBy(selection))
    const again = (event: StoredEvent) => ({ ...event, isDead: false, attempt: 0, dueAt: now })
    this.#events = this.#events.map((event) => (selected.includes(event) ? again(event) : event))
    return this.#revise(selected)
  }

  async drop(selection: DeadLetterSelection): Promise<number> {
    const selected = this.#events.filter(selectedBy(selection))
    this.#events = this.#events.filter((event) => !selected.includes(event))
    return this.#revise(selected)
  }

  async trimLetters(name: string, bytes: number): Promise<number> {
    const isLetter = selectedBy({ name })
    const beyond = new Set<StoredEvent>()
    let left = bytes
    for (const event of this.#events.toReversed().filter(isLetter)) {
      left -= event.bytes + jobEventRowBytes
      if (left < 0) beyond.add(event)
    }
    this.#events = this.#events.filter((event) => !beyond.has(event))
    return beyond.size
  }

  #revise(events: readonly StoredEvent[]): number {
    for (const { name } of events) {
      const row = this.#rows.get(name)
      if (row) row.revision++
    }
    return events.length
  }

  async close(): Promise<void> {}

  /** The positions that the log must keep. */
  get positions(): readonly Position[] {
    return [...this.#rows.values()].map(({ position }) => position)
  }
}

const selectedBy =
  ({ id, name }: DeadLetterSelection) =>
  (event: StoredEvent): boolean =>
    event.isDead && (id === undefined || event.id === id) && (name === undefined || event.name === name)
