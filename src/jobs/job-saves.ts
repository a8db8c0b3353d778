import type { FailedRun, JobSave, JobStore, NewWaitingEvent } from '../storage/job-store.ts'
import type { QueuedEvent } from './record-queues.ts'

/** Between two saves: what ended meanwhile is stored together. After a kill, the runs of this time are repeated. */
const intervalMs = 50
/** After a save that failed. */
const retryMs = 1_000

export interface JobSavesParts {
  readonly store: JobStore
  readonly name: string
  readonly fence: number
  /** What a save stores besides the events. */
  readonly progress: () => Pick<JobSave, 'position' | 'dueAt'>
  /** The row of an event; undefined: there was one already, or it is a dead letter. */
  readonly saved: (event: QueuedEvent, id: number | undefined) => void
  /** Called after each save that was stored. */
  readonly stored: (save: JobSave) => void
  /** Another process is the holder. */
  readonly fenced: () => void
  readonly onError: (error: unknown) => void
}

/** Stores the progress of a job, in one transaction at a time, after the runs. */
export class JobSaves {
  readonly #parts: JobSavesParts
  #done: number[] = []
  #failed = new Map<number, FailedRun>()
  #added: { readonly event: QueuedEvent; readonly row: NewWaitingEvent }[] = []
  #lostAt: number | undefined
  #isRequested = false
  #isEnded = false
  #saving: Promise<void> | undefined
  #skipPause: (() => void) | undefined

  constructor(parts: JobSavesParts) {
    this.#parts = parts
  }

  done(id: number): void {
    this.#failed.delete(id)
    this.#done.push(id)
    this.request()
  }

  failed(run: FailedRun): void {
    this.#failed.set(run.id, run)
    this.request()
  }

  added(event: QueuedEvent, row: NewWaitingEvent): void {
    this.#added.push({ event, row })
    this.request()
  }

  lost(at: number): void {
    this.#lostAt = at
    this.request()
  }

  request(): void {
    if (this.#isEnded) return
    this.#isRequested = true
    this.#saving ??= this.#save().finally(() => {
      this.#saving = undefined
    })
  }

  /** Resolves when everything is stored, or cannot be. */
  async finish(): Promise<void> {
    this.request()
    this.#isEnded = true
    this.#skipPause?.()
    await this.#saving
  }

  /** Nothing is stored from now on. */
  end(): void {
    this.#isEnded = true
    this.#isRequested = false
    this.#skipPause?.()
  }

  async #save(): Promise<void> {
    while (this.#isRequested) {
      this.#isRequested = false
      const added = this.#added
      // An event that is stored with the position is not needed in the log any more.
      for (const { event } of added) if (event.operation) event.operation.open--
      const save: JobSave = {
        ...this.#parts.progress(),
        lostAt: this.#lostAt,
        added: added.map(({ row }) => row),
        failed: [...this.#failed.values()],
        done: this.#done,
      }
      this.#added = []
      this.#failed = new Map()
      this.#done = []
      this.#lostAt = undefined
      const ids = await this.#store(save)
      if (ids === undefined) return
      this.#parts.stored(save)
      for (const [index, { event, row }] of added.entries())
        this.#parts.saved(event, row.isDead ? undefined : ids[index])
      await this.#pause(intervalMs)
    }
  }

  /** The same save until it succeeds: a later one may rely on its rows. What prevents it is reported once. */
  async #store(save: JobSave): Promise<readonly (number | undefined)[] | undefined> {
    const { store, name, fence, fenced, onError } = this.#parts
    for (let attempt = 1; ; attempt++) {
      try {
        const ids = await store.save(name, fence, save)
        if (ids !== 'fenced') return ids
        fenced()
        return undefined
      } catch (error) {
        if (this.#isEnded) return undefined
        if (attempt === 1) onError(error)
        await this.#pause(retryMs)
      }
    }
  }

  #pause(ms: number): Promise<void> {
    if (this.#isEnded) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref()
      this.#skipPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
