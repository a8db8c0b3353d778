import { ServiceError } from '../../protocol/errors.ts'

/** Counts the streams that are open, of all kinds together. */
export class StreamSlots {
  readonly #max: number
  #taken = 0

  constructor(max: number) {
    this.#max = max
  }

  /** The result gives the place back. Throws E_UNAVAILABLE when there is none. */
  take(): Disposable {
    if (this.#taken >= this.#max) throw tooMany(this.#max)
    this.#taken++
    let isTaken = true
    return {
      [Symbol.dispose]: () => {
        if (isTaken) this.#taken--
        isTaken = false
      },
    }
  }
}

const tooMany = (maxStreams: number): ServiceError =>
  new ServiceError('E_UNAVAILABLE', `${maxStreams} streams are open, which is the limit`, {
    limit: 'maxStreams',
    headers: { 'Retry-After': '10' },
  })
