import type { JsonObject, RecordId } from '../../../src/index.ts'
import type { Random } from './random.ts'
import { tagIds } from './settings.ts'

/** What one writer's records are, by their marks. */
export interface Holdings {
  readonly owners: ReadonlyMap<string, RecordId>
  readonly pets: ReadonlyMap<string, HeldPet>
}

export interface HeldPet {
  readonly id: RecordId
  readonly counted: number
  /** The mark of its owner. */
  readonly owner: string | null
  readonly tags: number
}

/** One write: what to ask for, and what the writer holds when it has been done. The id of a new record is in the answer. */
interface Write {
  readonly method: string
  readonly path: string
  readonly body?: JsonObject
  after(id: RecordId): Holdings
}

/** An id that is not known: the connection ended before the response. */
export const unknownId = 0

/**
 * Writes one thing after another, only to its own records, so that it knows what must be there: what was acknowledged,
 * and perhaps the one write that was not answered.
 */
export class Writer {
  readonly name: string
  holdings: Holdings = { owners: new Map(), pets: new Map() }
  /** What it holds if the unanswered write was done. */
  pending: Holdings | undefined
  readonly #random: Random
  #marks = 0

  constructor(name: string, random: Random) {
    this.name = name
    this.#random = random
  }

  /** Until the connection breaks. Throws when the service refuses what it should not. */
  async writeTo(url: string, acknowledged: () => void): Promise<void> {
    for (;;) {
      const write = this.#next()
      this.pending = write.after(unknownId)
      let answer: { readonly status: number; readonly body: JsonObject }
      try {
        const response = await fetch(url + write.path, {
          method: write.method,
          headers: { 'content-type': 'application/json' },
          body: write.body ? JSON.stringify(write.body) : null,
        })
        answer = { status: response.status, body: (await response.json()) as JsonObject }
      } catch {
        return
      }
      if (answer.status >= 300) throw new Error(`${write.method} ${write.path}: ${JSON.stringify(answer.body)}`)
      this.holdings = write.after(answer.body.id as RecordId)
      this.pending = undefined
      acknowledged()
    }
  }

  #next(): Write {
    const { owners, pets } = this.holdings
    const word = this.#random.pick(['owner', 'pet', 'pet', 'count', 'count', 'move', 'dropOwner', 'dropPet'] as const)
    const owner = this.#random.pick([...owners.keys()])
    const pet = this.#random.pick([...pets.keys()])
    if (word === 'pet' || (pet === undefined && owner !== undefined)) return this.#createPet(owner ?? null)
    if (word === 'owner' || owner === undefined || pet === undefined) return this.#createOwner()
    switch (word) {
      case 'count':
        return this.#updatePet(pet, { counted: this.#random.below(1_000_000) }, {})
      case 'move':
        return this.#updatePet(pet, { owner }, { owner: owners.get(owner) as RecordId })
      case 'dropOwner':
        return this.#destroyOwner(owner)
      case 'dropPet':
        return this.#destroyPet(pet)
    }
  }

  #mark = (): string => `${this.name}-${++this.#marks}`

  #createOwner(): Write {
    const mark = this.#mark()
    const { owners, pets } = this.holdings
    return {
      method: 'POST',
      path: '/owner',
      body: { mark },
      after: (id) => ({ owners: new Map([...owners, [mark, id]]), pets }),
    }
  }

  /** A row, and three rows of pairs. */
  #createPet(owner: string | null): Write {
    const mark = this.#mark()
    const { owners, pets } = this.holdings
    const body = { mark, owner: owner === null ? null : (owners.get(owner) as RecordId), tags: tagIds }
    const after = (id: RecordId): Holdings => ({
      owners,
      pets: new Map([...pets, [mark, { id, counted: 0, owner, tags: tagIds.length }]]),
    })
    return { method: 'POST', path: '/pet', body, after }
  }

  #updatePet(mark: string, change: Partial<HeldPet>, known: JsonObject): Write {
    const { owners, pets } = this.holdings
    const pet = pets.get(mark) as HeldPet
    const body = 'counted' in change ? { counted: change.counted as number } : known
    const after = (): Holdings => ({ owners, pets: new Map([...pets, [mark, { ...pet, ...change }]]) })
    return { method: 'PATCH', path: `/pet/${pet.id}`, body, after }
  }

  /** Its pets stay, without an owner. */
  #destroyOwner(mark: string): Write {
    const { owners, pets } = this.holdings
    const orphans = [...pets].map(([name, pet]) => [name, pet.owner === mark ? { ...pet, owner: null } : pet] as const)
    const after = (): Holdings => ({ owners: without(owners, mark), pets: new Map(orphans) })
    return { method: 'DELETE', path: `/owner/${owners.get(mark)}`, after }
  }

  #destroyPet(mark: string): Write {
    const { owners, pets } = this.holdings
    return {
      method: 'DELETE',
      path: `/pet/${pets.get(mark)?.id}`,
      after: () => ({ owners, pets: without(pets, mark) }),
    }
  }
}

const without = <V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> =>
  new Map([...map].filter(([name]) => name !== key))
