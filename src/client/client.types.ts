/*
 * The types of the client, which are those of records in the same process.
 */
import { createClient } from '../client.ts'
import { type Both, type Clinic, type Equal, type Expect, records } from '../model/inference/clinic.types.ts'
import type { Page } from '../model/inference/found.ts'
import type { RecordOf } from '../model/inference/record-of.ts'
import type { Config } from '../service/config/config.ts'

type Pet = RecordOf<Clinic, 'pet'>
declare const signal: AbortSignal

const api = createClient<Config<Clinic>>()
const shared = createClient<Config<Clinic, { readonly tenant: { readonly type: 'string'; readonly required: true } }>>()
const byModels = createClient<Clinic>({ url: '/' })
const loose = createClient()

export async function calls() {
  const page = await api.pet.find()
  const selected = await api.pet.find({ select: ['name', 'owner'], where: { owner: { name: 'Ann' } } }, { signal })
  const populated = await api.pet.find({
    select: ['name'],
    populate: { owner: { select: ['email'], populate: ['pets'] } },
  })
  const one = await api.pet.findOne(1, { populate: ['tags'] }, { signal })
  const count = await api.pet.count({ where: { kind: 'cat' } }, { signal })
  const created = await api.pet.create({ name: 'Rex', chip: null, doctor: 'house' }, { optimistic: true })
  const many = await api.tag.createMany([{ label: 'a' }, {}])
  const updated = await api.doctor.update('house', {}, { signal })
  const changed = await api.pet.updateMany({ where: { kind: 'dog' } }, { isWild: false })
  const upserted = await api.owner.upsert('email', { name: 'Ann', email: 'a@b.no' })
  const pets = await api.owner.related(1, 'pets', { limit: 1 }, { signal })
  const owner = await api.pet.related(1, 'owner')
  const added = await api.owner.add(1, 'pets', 2, { signal })
  const names: string[] = []
  for await (const { name } of api.pet.all({ select: ['name'] })) names.push(name)
  const tenant = (await shared.pet.findOne(1))?.tenant
  const same = await byModels.pet.findOne(1)
  const known = await loose.pet?.findOne(1)
  const live = api.pet.live({ where: { owner: { name: 'Ann' } }, select: ['name'], populate: ['tags'] }).rows
  const inProcess = await records.pet.findOne(1)
  return {
    page,
    selected,
    populated,
    one,
    count,
    created,
    many,
    updated,
    changed,
    upserted,
    pets,
    owner,
    added,
    tenant,
    same,
    known,
    live,
    inProcess,
  }
}
type Calls = Awaited<ReturnType<typeof calls>>

export type CallChecks = [
  Expect<Equal<Calls['page'], Page<Pet>>>,
  Expect<Equal<Calls['selected'], Page<{ id: number; name: string; owner: number | null }>>>,
  Expect<
    Equal<
      Calls['populated'],
      Page<{ id: number; name: string; owner: { id: number; email: string | null; pets: Pet[] } | null }>
    >
  >,
  Expect<Equal<Calls['one'], Both<Pet, { tags: RecordOf<Clinic, 'tag'>[] }> | undefined>>,
  Expect<Equal<Calls['count'], number>>,
  Expect<Equal<Calls['created'], Pet>>,
  Expect<Equal<Calls['many'], RecordOf<Clinic, 'tag'>[]>>,
  Expect<Equal<Calls['updated'], RecordOf<Clinic, 'doctor'>>>,
  Expect<Equal<Calls['changed'], Pet[]>>,
  Expect<Equal<Calls['upserted'], RecordOf<Clinic, 'owner'>>>,
  Expect<Equal<Calls['pets'], Page<Pet>>>,
  Expect<Equal<Calls['owner'], RecordOf<Clinic, 'owner'> | undefined>>,
  Expect<Equal<Calls['added'], Both<RecordOf<Clinic, 'owner'>, { pets: Pet[] }>>>,
  Expect<Equal<Calls['tenant'], string | undefined>>,
  Expect<Equal<Calls['live'], readonly { id: number; name: string; tags: RecordOf<Clinic, 'tag'>[] }[]>>,
  Expect<Equal<Calls['same'], Calls['inProcess']>>,
]

export async function wrongCalls() {
  // @ts-expect-error no such model
  await api.pets.find()
  // @ts-expect-error no such option
  await api.pet.find({ were: {} })
  // @ts-expect-error no such attribute
  await api.pet.find({ where: { name: 'Rex', nme: 'Rex' } })
  // @ts-expect-error no such attribute, three associations away
  await api.pet.find({ where: { owner: { pets: { tags: { lable: 'a' } } } } })
  // @ts-expect-error no such attribute, three levels deep
  await api.pet.find({ populate: { owner: { populate: { pets: { select: ['nme'] } } } } })
  // @ts-expect-error no such association, three levels deep
  await api.pet.find({ populate: { owner: { populate: { pets: { populate: ['tgs'] } } } } })
  // @ts-expect-error a hidden attribute cannot be compared
  await api.pet.find({ where: { secret: 'x' } })
  // @ts-expect-error a number is no name
  await api.pet.create({ name: 1, chip: null, doctor: 'house' })
  // @ts-expect-error the name is missing
  await api.pet.create({ chip: null, doctor: 'house' })
  // @ts-expect-error no such attribute
  await api.pet.update(1, { nme: 'Rex' })
  // @ts-expect-error the key of a doctor is a string
  await api.doctor.update(1, {})
  // @ts-expect-error no such option of a call
  await api.pet.update(1, {}, { optimistik: true })
  // @ts-expect-error no such attribute
  api.pet.live({ where: { owner: { pets: { nme: 'Rex' } } } })
  // @ts-expect-error a live query has no pages
  api.pet.live({ cursor: 'x' })
  // @ts-expect-error not selected
  api.pet.live({ select: ['name'] }).rows[0]?.kind
  // @ts-expect-error no such association
  await api.owner.add(1, 'pts', 2)
  // @ts-expect-error only attributes of the model
  await api.owner.upsert('mail', { name: 'Ann' })
  // @ts-expect-error not a unique attribute
  await api.owner.upsert('name', { name: 'Ann' })
}
