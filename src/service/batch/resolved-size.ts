import { tooDeep } from '../../protocol/body-depth.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import type { Limits } from '../../support/limits.ts'

/**
 * Counts the size of a body with the values of its references, and throws as soon as it exceeds the limits of a body. Values are
 * counted each time they are referenced, and may contain referenced values themselves, so the body is measured before it is
 * built.
 */
export class ResolvedSize {
  readonly #limits: Limits
  #left: number

  constructor(limits: Limits) {
    this.#limits = limits
    this.#left = limits.maxBodyBytes
  }

  get maxLevels(): number {
    return this.#limits.maxJsonDepth
  }

  /** A value with all that it contains; `levels`: of nesting that it may have. */
  add(value: Json, levels: number): void {
    this.addOne(value, levels)
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      for (const item of value) this.add(item, levels - 1)
      return
    }
    for (const [name, member] of Object.entries(value as JsonObject)) {
      this.addName(name)
      this.add(member, levels - 1)
    }
  }

  /** A value without what it contains. */
  addOne(value: Json, levels: number): void {
    this.#count(typeof value === 'string' ? value.length : 1)
    if (levels === 0 && typeof value === 'object' && value !== null) throw tooDeep(this.#limits)
  }

  addName(name: string): void {
    this.#count(name.length)
  }

  #count(bytes: number): void {
    this.#left -= bytes
    if (this.#left < 0) throw tooLarge(this.#limits)
  }
}

const tooLarge = ({ maxBodyBytes }: Limits): ServiceError =>
  new ServiceError(
    'E_BODY_TOO_LARGE',
    `With the values that it refers to, the body is larger than ${maxBodyBytes} bytes`,
    {
      limit: 'maxBodyBytes',
    },
  )
