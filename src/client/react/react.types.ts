/*
 * The types of the React hooks.
 */
import { createClient } from '../../client.ts'
import type { Clinic, Equal, Expect } from '../../model/inference/clinic.types.ts'
import type { RecordOf } from '../../model/inference/record-of.ts'
import { useLive, useRecord, useWrite } from '../../react.ts'

const api = createClient<Clinic>()

export function useComponent() {
  const { rows, error: failure } = useLive(
    () => api.pet.live({ where: { owner: { name: 'Ann' } }, select: ['name'], populate: ['tags'] }),
    [],
  )
  const { record } = useRecord(() => api.doctor.live({ where: { code: 'house' } }), [])
  const [rename, { error }] = useWrite((id: number, name: string) => api.pet.update(id, { name }, { optimistic: true }))
  // @ts-expect-error no such attribute, two associations away
  useLive(() => api.pet.live({ where: { owner: { pets: { nme: 'Rex' } } } }), [])
  // @ts-expect-error a name is a text
  rename(1, 1)
  return { rows, record, renamed: rename(1, 'Rex'), message: error?.message ?? failure?.message }
}
type Component = ReturnType<typeof useComponent>

export type HookChecks = [
  Expect<Equal<Component['rows'], readonly { id: number; name: string; tags: RecordOf<Clinic, 'tag'>[] }[]>>,
  Expect<Equal<Component['record'], RecordOf<Clinic, 'doctor'> | undefined>>,
  Expect<Equal<Component['message'], string | undefined>>,
  Expect<Equal<Component['renamed'], Promise<RecordOf<Clinic, 'pet'> | undefined>>>,
]
