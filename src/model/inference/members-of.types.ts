/*
 * The types of the operations on associations.
 */
import { type Both, type Clinic, type Equal, type Expect, records } from './clinic.types.ts'
import type { Page } from './found.ts'
import type { RecordOf } from './record-of.ts'

type Pet = RecordOf<Clinic, 'pet'>
type Owner = RecordOf<Clinic, 'owner'>
type Tag = RecordOf<Clinic, 'tag'>

export async function members() {
  const added = await records.owner.add(1, 'pets', 2)
  const removed = await records.pet.remove(1, 'tags', 'x')
  const replaced = await records.pet.replace(1, 'tags', ['x', 'y'])
  const many = await records.owner.related(1, 'pets')
  const some = await records.owner.related(1, 'pets', {
    where: { kind: 'dog', tags: { label: 'a' } },
    sort: 'doctor.code',
    select: ['name'],
    populate: { owner: { select: ['name'] } },
    count: true,
  })
  const one = await records.pet.related(1, 'owner')
  const part = await records.pet.related(1, 'owner', { select: ['name'], populate: ['pets'] })
  const rest = await records.pet.related(1, 'doctor', { omit: ['createdAt'] })
  return { added, removed, replaced, many, some, one, part, rest }
}
type Members = Awaited<ReturnType<typeof members>>

export type MemberChecks = [
  Expect<Equal<Members['added'], Both<Owner, { pets: Pet[] }>>>,
  Expect<Equal<Members['removed'], Both<Pet, { tags: Tag[] }>>>,
  Expect<Equal<Members['replaced'], Members['removed']>>,
  Expect<Equal<Members['many'], Page<Pet>>>,
  Expect<Equal<Members['some'], Page<{ id: number; name: string; owner: { id: number; name: string } | null }>>>,
  Expect<Equal<Members['one'], Owner | undefined>>,
  Expect<Equal<Members['part'], { id: number; name: string; pets: Pet[] } | undefined>>,
  Expect<Equal<Members['rest'], { code: string } | undefined>>,
]

export async function wrongMembers() {
  // @ts-expect-error a to-one association has no members
  await records.pet.add(1, 'owner', 1)
  // @ts-expect-error no such association
  await records.owner.add(1, 'pts', 1)
  // @ts-expect-error the key of a tag is a string
  await records.pet.add(1, 'tags', 1)
  // @ts-expect-error the key of a tag is a string
  await records.pet.remove(1, 'tags', 1)
  // @ts-expect-error a list
  await records.pet.replace(1, 'tags', 'x')
  // @ts-expect-error the key of an owner is a number
  await records.owner.related('1', 'pets')
  // @ts-expect-error no association
  await records.owner.related(1, 'name')
  // @ts-expect-error a to-one association has no order
  await records.pet.related(1, 'owner', { sort: 'name' })
  // @ts-expect-error no such attribute of a pet
  await records.owner.related(1, 'pets', { where: { kind: 'dog', knd: 'dog' } })
  // @ts-expect-error no such attribute of a pet
  await records.owner.related(1, 'pets', { select: ['nme'] })
  // @ts-expect-error no such option
  await records.owner.related(1, 'pets', { were: {} })
  // @ts-expect-error no such association of a pet
  await records.owner.related(1, 'pets', { populate: ['pets'] })
}
