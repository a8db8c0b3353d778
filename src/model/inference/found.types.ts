/*
 * The types of populated records.
 */
import type { JsonObject } from '../../protocol/json.ts'
import { type Both, type Clinic, type Equal, type Expect, records } from './clinic.types.ts'
import type { FindOptions } from './find-options.ts'
import type { Page } from './found.ts'
import type { RecordOf } from './record-of.ts'

type Pet = RecordOf<Clinic, 'pet'>
type Owner = RecordOf<Clinic, 'owner'>
type Doctor = RecordOf<Clinic, 'doctor'>
type Tag = RecordOf<Clinic, 'tag'>
type Changed<A, B> = Both<Omit<A, keyof B>, B>

export async function populated() {
  const names = await records.pet.find({ populate: ['owner', 'tags'] })
  const all = await records.pet.find({ populate: { doctor: true, tags: true } })
  const none = await records.pet.find({ populate: [] })
  const one = await records.owner.findOne(1, { populate: ['pets'] })
  const nested = await records.owner.find({
    where: { pets: { kind: 'dog' } },
    populate: {
      pets: {
        where: { kind: 'dog', owner: { name: 'Ann' } },
        sort: ['doctor.code DESC', 'name'],
        limit: 10,
        skip: 10,
        select: ['name', 'owner'],
        populate: { tags: { omit: ['createdAt', 'updatedAt'], populate: ['pets'] }, doctor: true },
      },
    },
    count: true,
  })
  const instead = await records.pet.find({
    select: ['name'],
    populate: { owner: { where: { name: 'Ann' }, select: [] } },
  })
  const omitted = await records.pet.find({ omit: ['owner', 'doctor'], populate: ['owner'] })
  return { names, all, none, one, nested, instead, omitted }
}
type Populated = Awaited<ReturnType<typeof populated>>

type Label = {
  id: string
  label: string | null
  pets: Pet[]
}

export type PopulatedChecks = [
  Expect<Equal<Populated['names'], Page<Changed<Pet, { owner: Owner | null; tags: Tag[] }>>>>,
  Expect<Equal<Populated['all'], Page<Changed<Pet, { doctor: Doctor; tags: Tag[] }>>>>,
  Expect<Equal<Populated['none'], Page<Pet>>>,
  Expect<Equal<Populated['one'], Changed<Owner, { pets: Pet[] }> | undefined>>,
  Expect<
    Equal<
      Populated['nested'],
      Page<
        Changed<Owner, { pets: { id: number; name: string; owner: number | null; tags: Label[]; doctor: Doctor }[] }>
      >
    >
  >,
  Expect<Equal<Populated['instead'], Page<{ id: number; name: string; owner: { id: number } | null }>>>,
  Expect<Equal<Populated['omitted'], Page<Changed<Omit<Pet, 'doctor'>, { owner: Owner | null }>>>>,
]

// ---- names that are only known at run time ------------------------------------------------------------------------

export async function open(names: readonly ('owner' | 'tags')[], isWanted: boolean) {
  const some = await records.pet.find({ populate: names })
  const either = await records.pet.find({ select: ['name'], populate: isWanted ? ['tags'] : [] })
  const options: FindOptions<Clinic, 'tag'> = { where: { label: 'a' }, select: ['label'], populate: ['pets'] }
  const later = await records.tag.find(options)
  return { some, either, later }
}
type Open = Awaited<ReturnType<typeof open>>
type Named = { id: number; name: string }

export type OpenChecks = [
  Expect<
    Equal<
      Open['some']['data'][number],
      Both<Omit<Pet, 'owner'>, { owner?: number | null | JsonObject; tags?: JsonObject[] }>
    >
  >,
  Expect<Equal<Open['either']['data'][number], Named | Both<Named, { tags: Tag[] }>>>,
  Expect<Equal<Open['later']['data'][number]['id'], string>>,
  Expect<Equal<Open['later']['data'][number]['label'], string | null | undefined>>,
  Expect<Equal<Open['later']['data'][number]['pets'], JsonObject[] | undefined>>,
]

export async function wrongPopulates() {
  // @ts-expect-error no such association
  await records.pet.find({ populate: ['owners'] })
  // @ts-expect-error an attribute, but no association
  await records.pet.find({ populate: ['name'] })
  // @ts-expect-error no such association, beside one that exists
  await records.pet.find({ populate: { owner: true, owners: true } })
  // @ts-expect-error no such option, beside one that exists
  await records.owner.find({ populate: { pets: { limit: 3, lmit: 3 } } })
  // @ts-expect-error a to-one association has no page
  await records.pet.find({ populate: { owner: { select: ['name'], limit: 3 } } })
  // @ts-expect-error embedded lists have no count
  await records.owner.find({ populate: { pets: { limit: 3, count: true } } })
  // @ts-expect-error no such attribute, beside one that exists
  await records.owner.find({ populate: { pets: { where: { kind: 'dog', knd: 'dog' } } } })
  // @ts-expect-error no such attribute, one level deeper
  await records.owner.find({ populate: { pets: { where: { or: [{ kind: 'dog', knd: 'dog' }] } } } })
  // @ts-expect-error not one of the values
  await records.owner.find({ populate: { pets: { where: { kind: 'cow' } } } })
  // @ts-expect-error no such attribute
  await records.owner.find({ populate: { pets: { select: ['nme'] } } })
  // @ts-expect-error no such attribute
  await records.owner.findOne(1, { populate: { pets: { sort: 'nme' } } })
  // @ts-expect-error no such association, one level down
  await records.owner.find({ populate: { pets: { populate: { owner: true, pets: true } } } })
  const { data } = await records.owner.find({ populate: { pets: { select: ['name'] } } })
  // @ts-expect-error not selected
  data[0]?.pets[0]?.kind
  // @ts-expect-error not populated
  data[0]?.pets[0]?.owner
}
