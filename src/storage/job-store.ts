import type { Position } from '../protocol/change.ts'

export const jobTable = 'keelson_jobs'
export const jobEventTable = 'keelson_job_events'
/** Its index by job, by whether the event is a dead letter, and by id. */
export const jobEventIndex = 'keelson_job_events_dead'
/** What the row of an event takes besides its text, approximately. */
export const jobEventRowBytes = 100

/** The progress of a name, as a new holder finds it. */
export interface JobClaim {
  /** Larger for every holder; a save with an earlier one is refused. */
  readonly fence: number
  /** For a schedule, its times. */
  readonly position: Position
  /** For a schedule, when it is due, in milliseconds. */
  readonly dueAt: number
  /** Changes when a command changed the events that wait. */
  readonly revision: number
}

/** An event that a run failed for, or that follows one of the same record. */
export interface WaitingEvent {
  readonly id: number
  readonly eventId: string
  /** The record: events with the same key are handled one after another. */
  readonly key: string
  /** Runs so far. */
  readonly attempt: number
  /** Not before this time, in milliseconds. */
  readonly dueAt: number
  /** The bytes of its text. */
  readonly bytes: number
}

export interface NewWaitingEvent extends Omit<WaitingEvent, 'id'> {
  /** The event and its record, as JSON. */
  readonly text: string
  readonly error: string | undefined
  readonly isDead: boolean
}

/** What a failed run changes. */
export interface FailedRun extends Pick<WaitingEvent, 'id' | 'attempt' | 'dueAt' | 'bytes'> {
  readonly error: string
  readonly isDead: boolean
}

/** What one transaction stores of the progress of a job. */
export interface JobSave {
  readonly position: Position
  readonly dueAt: number
  /** The time at which events were found to be lost; undefined: none were. */
  readonly lostAt: number | undefined
  readonly added: readonly NewWaitingEvent[]
  readonly failed: readonly FailedRun[]
  /** The ids of events that wait no longer. */
  readonly done: readonly number[]
}

/** The progress of a name, for commands. */
export interface JobState {
  readonly name: string
  readonly position: Position
  readonly dueAt: number
  readonly waiting: number
  readonly dead: number
  /** The last time at which events were lost: the log no longer contained them, or dead letters were dropped by `trimLetters`. */
  readonly lostAt: number | undefined
}

export interface DeadLetter {
  readonly id: number
  readonly name: string
  readonly text: string
  readonly attempt: number
  readonly error: string | undefined
  readonly at: number
}

/** Which dead letters: the one with an id, or all, or those of one job. */
export interface DeadLetterSelection {
  readonly id?: number
  /** The name of the job. */
  readonly name?: string
}

/** The progress of jobs, stored beside the change log. */
export interface JobStore {
  /** Creates what is missing. Throws when that is not allowed. */
  prepare(): Promise<void>
  /** Adds names that are not known yet. */
  register(
    names: readonly { readonly name: string; readonly position: Position; readonly dueAt: number }[],
  ): Promise<void>
  /** Makes this process the holder of the name, unless another live process is. */
  claim(name: string): Promise<JobClaim | undefined>
  /** The names that this process still holds. Called regularly; a holder that does not call it loses its names. */
  renew(): Promise<ReadonlyMap<string, Pick<JobClaim, 'fence' | 'revision'>>>
  release(name: string, fence: number): Promise<void>
  /** The ids of `added`, undefined for an event that was there already; 'fenced': another process is the holder, or the job must be claimed again. */
  save(name: string, fence: number, save: JobSave): Promise<readonly (number | undefined)[] | 'fenced'>
  /** At most `limit` events that wait, in their order, with an id above `after`. */
  waiting(name: string, after: number, limit: number): Promise<readonly WaitingEvent[]>
  /** The text of an event; undefined when it was dropped. */
  text(id: number): Promise<string | undefined>
  /** The progress of all names; undefined if the database has no tables of jobs. */
  states(): Promise<readonly JobState[] | undefined>
  letters(selection: DeadLetterSelection): Promise<readonly DeadLetter[]>
  /** Both resolve with the number of dead letters. A retried one begins with its first attempt. */
  retry(selection: DeadLetterSelection, now: number): Promise<number>
  drop(selection: DeadLetterSelection): Promise<number>
  /**
   * Drops the oldest dead letters of a job, so that the others have at most so many bytes, with `jobEventRowBytes` for each. Resolves
   * with the number of those dropped.
   */
  trimLetters(name: string, bytes: number): Promise<number>
  close(): Promise<void>
}
