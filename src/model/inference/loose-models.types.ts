/*
 * Models that are wholly or partly known only at run time.
 */
import type { Json, JsonObject } from '../../protocol/json.ts'
import type { AttributeDefinition, ModelDefinition, ModelDefinitions } from '../definition.ts'
import { type Both, declare, type Equal, type Expect, type Times } from './clinic.types.ts'
import type { Page } from './found.ts'
import type { RecordOf } from './record-of.ts'
import type { Records } from './records-of.ts'
import type { KeyOf } from './value-of.ts'
import type { Where } from './where-of.ts'

declare const loaded: ModelDefinitions
declare const definition: ModelDefinition
declare const attribute: AttributeDefinition
declare const modelName: string
const loose = declare({ models: loaded })
const half = declare({
  models: {
    known: {
      attributes: { name: { type: 'string' }, to: { model: 'file' }, extra: attribute, from: { model: modelName } },
    },
    file: definition,
  },
})
declare const looseRecords: Records<typeof loose>
declare const halfRecords: Records<typeof half>

export async function looseCalls(model: string) {
  const found = await looseRecords[model]?.find({
    where: { name: { contains: 'x' }, or: [{ a: 1 }, { b: [1, 2] }] },
    sort: ['name DESC', { age: 'ASC' }],
    limit: 3,
  })
  const selected = await looseRecords.pet?.find({ select: ['name'] })
  const one = await looseRecords.pet?.findOne('1', { omit: ['name'] })
  const created = await looseRecords.pet?.create({ name: 'x', tags: [1, 2] })
  await looseRecords.pet?.upsert('name', { name: 'x' })
  await halfRecords.known.upsert('extra', {})
  // @ts-expect-error not a unique attribute
  await halfRecords.known.upsert('name', {})
  await halfRecords.file.upsert('name', {})
  const updated = await looseRecords.pet?.update(1, { name: null })
  const file = await halfRecords.file.create({ name: 'x', size: 3 })
  const known = await halfRecords.known.find({
    where: {
      to: 1,
      not: { to: { size: 3 } },
      name: { contains: 'x' },
      extra: { contains: 'x' },
      from: { startsWith: 'x' },
    },
  })
  const populated = await looseRecords.pet?.find({
    populate: { tags: { where: { a: 1 }, limit: 3, populate: ['pets'] } },
  })
  const added = await looseRecords.pet?.add(1, 'tags', 'x')
  const related = await looseRecords.pet?.related(1, 'tags', { where: { a: 1 }, sort: 'a', select: ['a'] })
  const to = await halfRecords.known.find({
    sort: 'to.size',
    populate: { to: { select: ['size'] }, from: true, extra: true },
  })
  const its = await halfRecords.known.related(1, 'to', { select: ['size'] })
  return { found, selected, one, created, updated, file, known, populated, added, related, to, its }
}
type Loose = Awaited<ReturnType<typeof looseCalls>>

export type LooseChecks = [
  Expect<Equal<RecordOf<ModelDefinitions, string>, { [name: string]: Json }>>,
  Expect<Equal<Where<ModelDefinitions, string>, JsonObject>>,
  Expect<Equal<KeyOf<ModelDefinitions, string>, number | string>>,
  Expect<Equal<Loose['found'], Page<{ [name: string]: Json }> | undefined>>,
  Expect<Equal<NonNullable<Loose['selected']>['data'][number]['name'], Json>>,
  Expect<Equal<NonNullable<Loose['one']>['size'], Json>>,
  Expect<Equal<NonNullable<Loose['populated']>['data'][number]['tags'], Json>>,
  Expect<Equal<NonNullable<Loose['added']>['name'], Json>>,
  Expect<Equal<NonNullable<Loose['related']>, Page<{ id: Json; a: Json }> | { id: Json; a: Json }>>,
  Expect<Equal<Loose['file'], { [name: string]: Json }>>,
  Expect<Equal<Loose['to']['data'][number]['to'], { id: Json; size: Json } | null>>,
  Expect<Equal<Loose['to']['data'][number]['from'], { [name: string]: Json } | null>>,
  Expect<Equal<Loose['to']['data'][number]['extra'], Json>>,
  Expect<Equal<Loose['its'], { id: Json; size: Json } | undefined>>,
  Expect<
    Equal<
      RecordOf<typeof half, 'known'>,
      Both<
        { id: number; name: string | null; to: number | string | null; extra: Json; from: number | string | null },
        Times
      >
    >
  >,
]
