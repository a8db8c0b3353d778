/*
 * The types of the operations on records.
 */
import { type Both, type Clinic, type Equal, type Expect, records } from './clinic.types.ts'
import type { Found, Page } from './found.ts'
import type { RecordOf } from './record-of.ts'

type Pet = RecordOf<Clinic, 'pet'>

export async function calls(names: ('kind' | 'weight')[]) {
  const page = await records.pet.find()
  const found = await records.pet.find({ where: { kind: 'cat' }, sort: 'name', limit: 10, skip: 10 })
  const selected = await records.pet.find({ select: ['name', 'owner'], where: { name: 'Rex' } })
  const omitted = await records.pet.find({ omit: ['notes', 'name'] })
  const one = await records.pet.findOne(1)
  const selectedOne = await records.doctor.findOne('house', { select: ['createdAt'] })
  const some = await records.pet.find({ select: names })
  const next = await records.pet.find({ cursor: page.next ?? undefined, count: true })
  const created = await records.pet.create({ name: 'Rex', chip: null, doctor: 'house', tags: ['x'] })
  const updated = await records.doctor.update('house', {})
  const destroyed = await records.tag.destroy('x')
  const count = await records.pet.count({ where: { owner: null } })
  return { page, found, selected, omitted, one, selectedOne, some, next, created, updated, destroyed, count }
}
type Calls = Awaited<ReturnType<typeof calls>>

export type CallChecks = [
  Expect<Equal<Calls['page'], Page<Pet>>>,
  Expect<Equal<Calls['found'], Page<Pet>>>,
  Expect<Equal<Calls['selected'], Page<{ id: number; name: string; owner: number | null }>>>,
  Expect<Equal<Calls['omitted'], Page<Omit<Pet, 'notes' | 'name'>>>>,
  Expect<Equal<Calls['one'], Pet | undefined>>,
  Expect<Equal<Calls['selectedOne'], { code: string; createdAt: string } | undefined>>,
  Expect<Equal<Calls['some'], Page<Both<Partial<Pet>, { id: number }>>>>,
  Expect<Equal<Calls['next'], Page<Pet>>>,
  Expect<Equal<Page<Pet>, { readonly data: Pet[]; readonly next: string | null; readonly total?: number }>>,
  Expect<Equal<Calls['created'], Pet>>,
  Expect<Equal<Calls['updated'], RecordOf<Clinic, 'doctor'>>>,
  Expect<Equal<Calls['destroyed'], RecordOf<Clinic, 'tag'>>>,
  Expect<Equal<Calls['count'], number>>,
  Expect<Equal<Found<Clinic, 'pet', { select: readonly ['name'] }>, { id: number; name: string }>>,
  Expect<Equal<Found<Clinic, 'pet', { limit: 3 }>, Pet>>,
]

export async function wrongCalls() {
  // @ts-expect-error no such model
  await records.pets.find()
  // @ts-expect-error no such option
  await records.pet.find({ were: {} })
  // @ts-expect-error no such attribute, beside one that exists
  await records.pet.find({ where: { name: 'Rex', nme: 'Rex' } })
  // @ts-expect-error no such attribute
  await records.pet.find({ select: ['name', 'nme'] })
  // @ts-expect-error a hidden attribute cannot be selected
  await records.pet.find({ select: ['name', 'secret'] })
  // @ts-expect-error a hidden attribute has no order
  await records.pet.find({ sort: 'secret' })
  // @ts-expect-error a hidden attribute cannot be compared
  await records.pet.find({ where: { secret: 'x' } })
  // @ts-expect-error to-many associations are not selected
  await records.pet.find({ select: ['tags'] })
  // @ts-expect-error the key cannot be omitted
  await records.pet.find({ omit: ['id'] })
  // @ts-expect-error no such attribute
  await records.pet.find({ sort: 'nme DESC' })
  // @ts-expect-error not a number
  await records.pet.find({ limit: '10' })
  // @ts-expect-error not a string
  await records.pet.find({ cursor: 1 })
  // @ts-expect-error a single record has no order
  await records.pet.findOne(1, { sort: 'name' })
  // @ts-expect-error the key is a number
  await records.pet.findOne('1')
  // @ts-expect-error `name` is required
  await records.pet.create({ chip: null, doctor: 'house' })
  // @ts-expect-error no such attribute
  await records.pet.create({ name: 'Rex', chip: null, doctor: 'house', nme: 'Rex' })
  // @ts-expect-error set by the service
  await records.pet.create({ name: 'Rex', chip: null, doctor: 'house', createdAt: '2026' })
  // @ts-expect-error has a default, but does not allow null
  await records.pet.update(1, { kind: null })
  // @ts-expect-error a key cannot be changed
  await records.pet.update(1, { id: 2 })
  // @ts-expect-error keys of tags are strings
  await records.pet.update(1, { tags: [1] })
  // @ts-expect-error no such attribute
  await records.pet.count({ where: { nme: 'Rex' } })
  const { data } = await records.pet.find({ select: ['name'] })
  // @ts-expect-error not selected
  data[0]?.kind
}
