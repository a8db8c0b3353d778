/*
 * The types of live changes.
 */
import { type Clinic, type Equal, type Expect, records } from './clinic.types.ts'
import type { LiveEvent, LiveEvents } from './live-of.ts'
import type { RecordOf } from './record-of.ts'

type Pet = RecordOf<Clinic, 'pet'>

export async function collect(since: string, signal: AbortSignal) {
  for await (const event of records.pet.live({ where: { kind: 'cat', not: { weight: 3 } }, since, signal })) {
    switch (event.verb) {
      case 'ready':
      case 'reset':
      case 'restart':
        return { place: event.position }
      case 'created':
        return { created: event.data, id: event.id, model: event.model, position: event.position }
      case 'updated':
        return { updated: event.data, previous: event.previous }
      case 'destroyed':
        return { destroyed: event.previous }
      case 'addedTo':
        return { to: event.attribute, addedId: event.addedId }
      case 'removedFrom':
        return { from: event.attribute, removedId: event.removedId }
    }
  }
}
type Collected = NonNullable<Awaited<ReturnType<typeof collect>>>
type In<K extends PropertyKey> = Extract<Collected, { [P in K]: unknown }>[K]

export type LiveChecks = [
  Expect<Equal<In<'place'>, string>>,
  Expect<Equal<In<'created'>, Pet>>,
  Expect<Equal<In<'id'>, number>>,
  Expect<Equal<In<'model'>, 'pet'>>,
  Expect<Equal<In<'position'>, string | undefined>>,
  Expect<Equal<In<'updated'>, Partial<Pet>>>,
  Expect<Equal<In<'previous'>, Pet>>,
  Expect<Equal<In<'destroyed'>, Pet | undefined>>,
  Expect<Equal<In<'to'>, 'tags'>>,
]

export const ofKey: LiveEvents<Clinic, 'doctor'> = records.doctor.live({ id: 'house' })
export const event = {} as LiveEvent<Clinic, 'tag'>

// @ts-expect-error a key is of the model's type
records.pet.live({ id: 'x' })
// @ts-expect-error there is no such attribute
records.pet.live({ where: { colour: 'red' } })
// @ts-expect-error a stream has no limit
records.pet.live({ limit: 3 })
