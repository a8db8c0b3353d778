/*
 * What the compiler makes of models. Nothing here runs: `tsc` checks it.
 */
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { None, Registry } from './attributes-of.ts'
import type { CheckedModels } from './checked-models.ts'
import type { AttributeDefinition, AttributeDefinitions, ModelDefinition, ModelDefinitions } from './definition.ts'
import type { CreateInput, RecordOf, UpdateInput } from './record-of.ts'
import type { FindOptions } from './find-options.ts'
import type { Found, Page } from './found.ts'
import type { Records } from './records-of.ts'
import type { Sort } from './sort-of.ts'
import type { KeyOf } from './value-of.ts'
import type { Where } from './where-of.ts'

/** Fails to compile unless both are the same type, not only assignable to each other. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Expect<T extends true> = T

/** Takes models as a configuration does. */
declare function declare<const M extends ModelDefinitions, const Shared extends AttributeDefinitions = None>(config: {
  readonly models: M & CheckedModels<M, Shared>
  readonly attributes?: Shared
}): Registry<M, Shared>

const clinic = declare({
  models: {
    owner: {
      attributes: {
        name: { type: 'string', required: true },
        email: { type: 'string', isEmail: true, unique: true },
        pets: { collection: 'pet', via: 'owner' },
      },
    },
    pet: {
      attributes: {
        name: { type: 'string', required: true, maxLength: 80, custom: (value) => value !== 'No' },
        kind: { type: 'string', isIn: ['cat', 'dog'], defaultsTo: 'cat' },
        weight: { type: 'number' },
        isWild: { type: 'boolean', defaultsTo: false },
        chip: { type: 'string', required: true, allowNull: true },
        seenAt: { type: 'datetime', defaultsTo: () => '2026-01-01' },
        steps: { type: 'bigint' },
        notes: { type: 'json' },
        owner: { model: 'owner' },
        doctor: { model: 'doctor', required: true },
        tags: { collection: 'tag', via: 'pets' },
      },
    },
    doctor: {
      primaryKey: 'code',
      attributes: { code: { type: 'string', required: true }, updatedAt: false },
    },
    tag: {
      attributes: {
        id: { type: 'string', isUUID: true },
        label: { type: 'string' },
        pets: { collection: 'pet', via: 'tags' },
      },
    },
  },
})
type Clinic = typeof clinic
declare const records: Records<Clinic>

export type RecordChecks = [
  Expect<
    Equal<
      RecordOf<Clinic, 'pet'>,
      {
        id: number
        createdAt: string
        updatedAt: string
        name: string
        kind: 'cat' | 'dog'
        weight: number | null
        isWild: boolean
        chip: string | null
        seenAt: string
        steps: string | null
        notes: Json
        owner: number | null
        doctor: string
      }
    >
  >,
  Expect<Equal<RecordOf<Clinic, 'doctor'>, { code: string; createdAt: string }>>,
  Expect<Equal<RecordOf<Clinic, 'tag'>, { id: string; label: string | null; createdAt: string; updatedAt: string }>>,
  Expect<Equal<KeyOf<Clinic, 'pet'>, number>>,
  Expect<Equal<KeyOf<Clinic, 'doctor'>, string>>,
  Expect<Equal<KeyOf<Clinic, 'tag'>, string>>,
]

export type InputChecks = [
  Expect<
    Equal<
      CreateInput<Clinic, 'pet'>,
      {
        id?: number
        name: string
        kind?: 'cat' | 'dog'
        weight?: number | null
        isWild?: boolean
        chip: string | null
        seenAt?: string
        steps?: string | null
        notes?: Json
        owner?: number | null
        doctor: string
        tags?: readonly string[]
      }
    >
  >,
  Expect<
    Equal<
      UpdateInput<Clinic, 'pet'>,
      {
        name?: string
        kind?: 'cat' | 'dog'
        weight?: number | null
        isWild?: boolean
        chip?: string | null
        seenAt?: string
        steps?: string | null
        notes?: Json
        owner?: number | null
        doctor?: string
        tags?: readonly string[]
      }
    >
  >,
  Expect<Equal<CreateInput<Clinic, 'doctor'>, { code: string }>>,
  Expect<Equal<keyof UpdateInput<Clinic, 'doctor'>, never>>,
  Expect<Equal<CreateInput<Clinic, 'tag'>, { id?: string; label?: string | null; pets?: readonly number[] }>>,
]

// ---- keys -----------------------------------------------------------------------------------------------------------

const keys = declare({
  models: {
    flagged: { attributes: { code: { type: 'string', primaryKey: true, isIn: ['a', 'b'] } } },
    both: { primaryKey: 'code', attributes: { code: { type: 'string' }, id: { type: 'string' } } },
    counted: { attributes: { id: { type: 'bigint', autoIncrement: true } } },
    chosen: { attributes: { id: { type: 'number' } } },
    made: { attributes: { id: { type: 'string', defaultsTo: () => 'x' } } },
    uuid: { attributes: { id: { type: 'ref', columnType: 'UUID' } } },
    inColumn: { attributes: { id: { type: 'string', columnType: 'uuid' } } },
    untyped: { attributes: { id: { autoIncrement: true }, createdAt: { autoCreatedAt: true }, updatedAt: false } },
    named: { primaryKey: 'id' },
    plain: {},
    pointer: { attributes: { to: { model: 'flagged' }, or: { model: 'counted' } } },
  },
})
type Keys = typeof keys
type Times = { createdAt: string; updatedAt: string }
type Both<A, B> = { [K in keyof (A & B)]: (A & B)[K] }

export type KeyChecks = [
  Expect<Equal<RecordOf<Keys, 'flagged'>, Both<{ code: 'a' | 'b' }, Times>>>,
  Expect<Equal<RecordOf<Keys, 'both'>, Both<{ code: string; id: string | null }, Times>>>,
  Expect<Equal<RecordOf<Keys, 'plain'>, Both<{ id: number }, Times>>>,
  Expect<Equal<RecordOf<Keys, 'pointer'>, Both<{ id: number; to: 'a' | 'b' | null; or: string | null }, Times>>>,
  Expect<Equal<KeyOf<Keys, 'both'>, string>>,
  Expect<Equal<KeyOf<Keys, 'flagged'>, 'a' | 'b'>>,
  Expect<Equal<CreateInput<Keys, 'counted'>, { id?: string }>>,
  Expect<Equal<CreateInput<Keys, 'chosen'>, { id: number }>>,
  Expect<Equal<CreateInput<Keys, 'made'>, { id?: string }>>,
  Expect<Equal<CreateInput<Keys, 'uuid'>, { id?: string }>>,
  Expect<Equal<CreateInput<Keys, 'inColumn'>, { id?: string }>>,
  Expect<Equal<RecordOf<Keys, 'untyped'>, { id: number; createdAt: string }>>,
  Expect<Equal<RecordOf<Keys, 'named'>, RecordOf<Keys, 'plain'>>>,
  Expect<Equal<CreateInput<Keys, 'flagged'>, { code: 'a' | 'b' }>>,
  Expect<Equal<CreateInput<Keys, 'both'>, { code: string; id?: string | null }>>,
  Expect<Equal<UpdateInput<Keys, 'both'>, { id?: string | null }>>,
  Expect<Equal<CreateInput<Keys, 'plain'>, { id?: number }>>,
]

// ---- columns and schemas --------------------------------------------------------------------------------------------

const columns = declare({
  models: {
    odd: {
      attributes: {
        createdAt: { type: 'number', autoCreatedAt: true, columnType: 'bigint' },
        updatedAt: { type: 'ref', autoUpdatedAt: true, columnType: 'timestamp(3) with time zone' },
        big: { type: 'ref', columnType: 'bigint' },
        large: { type: 'number', columnType: 'int8', required: true },
        long: { type: 'string', columnType: 'BIGINT(20)' },
        moment: { type: 'ref', columnType: 'datetime' },
        bytes: { type: 'ref', columnType: 'bytea' },
        point: { type: 'ref', columnType: 'point', required: true },
        short: { type: 'string', columnType: 'varchar(80)' },
        zod: { type: 'json', required: true, schema: z.object({ age: z.string().transform(Number) }) },
        valibot: { type: 'json', schema: v.array(v.picklist(['x', 'y'])) },
        arktype: { type: 'json', schema: type({ name: 'string' }), defaultsTo: { name: '' } },
      },
    },
  },
})
type Odd = typeof columns

export type ColumnChecks = [
  Expect<
    Equal<
      RecordOf<Odd, 'odd'>,
      {
        id: number
        createdAt: number
        updatedAt: string
        big: string | null
        large: string
        long: string | null
        moment: string | null
        bytes: string | null
        point: Json
        short: string | null
        zod: { age: number }
        valibot: ('x' | 'y')[] | null
        arktype: { name: string }
      }
    >
  >,
  Expect<Equal<CreateInput<Odd, 'odd'>['zod'], { age: string }>>,
  Expect<Equal<UpdateInput<Odd, 'odd'>['zod'], { age: string } | undefined>>,
  Expect<Equal<CreateInput<Odd, 'odd'>['valibot'], ('x' | 'y')[] | null | undefined>>,
  Expect<Equal<CreateInput<Odd, 'odd'>['arktype'], { name: string } | undefined>>,
]

// ---- attributes that all models share -------------------------------------------------------------------------------

const tenants = declare({
  attributes: {
    id: { type: 'string', isUUID: true },
    tenant: { model: 'company', required: true },
    createdAt: false,
  },
  models: {
    company: { attributes: { tenant: false, notes: { collection: 'note', via: 'tenant' } } },
    note: { attributes: { text: { type: 'string', required: true } } },
    coded: { primaryKey: 'code', attributes: { code: { type: 'string' }, tenant: { type: 'number' } } },
    dated: { attributes: { createdAt: { type: 'datetime', autoCreatedAt: true } } },
  },
})
const marked = declare({
  attributes: { uid: { type: 'string', isUUID: true, primaryKey: true } },
  models: { usual: {}, own: { attributes: { code: { type: 'number', primaryKey: true } } } },
})
type Tenants = typeof tenants

export type SharedChecks = [
  Expect<Equal<RecordOf<Tenants, 'company'>, { id: string; updatedAt: string }>>,
  Expect<Equal<RecordOf<Tenants, 'note'>, { id: string; tenant: string; updatedAt: string; text: string }>>,
  Expect<Equal<RecordOf<Tenants, 'coded'>, { code: string; tenant: number | null; updatedAt: string }>>,
  Expect<Equal<RecordOf<Tenants, 'dated'>, { id: string; tenant: string; updatedAt: string; createdAt: string }>>,
  Expect<Equal<CreateInput<Tenants, 'company'>, { id?: string; notes?: readonly string[] }>>,
  Expect<Equal<CreateInput<Tenants, 'note'>, { id?: string; tenant: string; text: string }>>,
  Expect<Equal<RecordOf<typeof marked, 'usual'>, Both<{ uid: string }, Times>>>,
  Expect<Equal<RecordOf<typeof marked, 'own'>, Both<{ code: number }, Times>>>,
]

// ---- conditions -----------------------------------------------------------------------------------------------------

type PetWhere = Where<Clinic, 'pet'>

export const conditions: readonly PetWhere[] = [
  {},
  { name: 'Rex' },
  { name: null },
  { name: ['Rex', 'Tom'] },
  { name: { contains: 'e', startsWith: 'R', endsWith: 'x', like: 'R%' } },
  { weight: { '<': 3, '<=': 3, '>': 1, '>=': 1, '!=': 2 } },
  { weight: { lessThan: 3, lessThanOrEqual: 3, greaterThan: 1, greaterThanOrEqual: 1, not: [2, 3], '!': null } },
  { kind: { in: ['cat'], nin: ['dog'], contains: 'at' } },
  { isWild: true, seenAt: { '>': '2026-01-01' }, steps: { '<': '9' }, createdAt: { '<': '2026' } },
  { notes: null },
  { notes: { '!=': null } },
  { owner: 1, doctor: 'house' },
  { owner: null, doctor: { startsWith: 'h' } },
  { owner: [1, 2], id: { in: [1] } },
  { or: [{ name: 'Rex' }, { and: [{ weight: 1 }, { not: { kind: 'cat' } }] }] },
]

export const wrongConditions: readonly PetWhere[] = [
  // @ts-expect-error no such attribute
  { nme: 'Rex' },
  // @ts-expect-error no such attribute, one level down
  { or: [{ nme: 'Rex' }] },
  // @ts-expect-error no such modifier
  { name: { contain: 'R' } },
  // @ts-expect-error a number is no text
  { name: 1 },
  // @ts-expect-error null is not one of many
  { name: ['Rex', null] },
  // @ts-expect-error nothing is less than null
  { weight: { '<': null } },
  // @ts-expect-error not one of the values
  { kind: 'cow' },
  // @ts-expect-error text modifiers are for text
  { weight: { contains: '1' } },
  // @ts-expect-error a moment is no text
  { seenAt: { startsWith: '2026' } },
  // @ts-expect-error truth has no order
  { isWild: { '<': true } },
  // @ts-expect-error JSON is there or not
  { notes: { a: 1 } },
  // @ts-expect-error JSON is there or not
  { notes: { '!=': 1 } },
  // @ts-expect-error by key
  { owner: 'Ann' },
  // @ts-expect-error the key of a doctor is a text
  { doctor: 1 },
  // @ts-expect-error many records are not a value
  { tags: 'x' },
  // @ts-expect-error a list
  { or: { name: 'Rex' } },
]

export const bigIsNoText: Where<Odd, 'odd'> = {
  // @ts-expect-error it has an order, but no parts
  long: { '>': '0', startsWith: '0' },
}

export const uuidIsNoText: Where<Clinic, 'tag'> = {
  // @ts-expect-error it has an order, but no parts
  id: { '>': '0', startsWith: '0' },
}

// ---- orders ---------------------------------------------------------------------------------------------------------

export const orders: readonly Sort<Clinic, 'pet'>[] = [
  'name',
  'name ASC',
  'createdAt DESC',
  ['name', 'owner DESC', { weight: 'ASC' }],
  { name: 1, weight: -1, isWild: 'DESC', seenAt: 'ASC' },
]

export const wrongOrders: readonly Sort<Clinic, 'pet'>[] = [
  // @ts-expect-error no such attribute
  'nme',
  // @ts-expect-error no such direction
  'name UP',
  // @ts-expect-error no such attribute
  ['name', { nme: 'ASC' }],
  // @ts-expect-error a list takes words
  [{ name: 1 }],
  // @ts-expect-error no such direction
  { name: 2 },
  // @ts-expect-error JSON has no order
  'notes',
  // @ts-expect-error many records have no order
  'tags',
]

// ---- calls ----------------------------------------------------------------------------------------------------------

type Pet = RecordOf<Clinic, 'pet'>

export async function calls(names: ('kind' | 'weight')[]) {
  const page = await records.pet.find()
  const found = await records.pet.find({ where: { kind: 'cat' }, sort: 'name', limit: 10, skip: 10 })
  const selected = await records.pet.find({ select: ['name', 'owner'], where: { name: 'Rex' } })
  const omitted = await records.pet.find({ omit: ['notes', 'name'] })
  const one = await records.pet.findOne(1)
  const selectedOne = await records.doctor.findOne('house', { select: ['createdAt'] })
  const some = await records.pet.find({ select: names })
  const options: FindOptions<Clinic, 'pet'> = { where: { kind: 'cat' }, select: ['name'] }
  const later = await records.pet.find(options)
  const created = await records.pet.create({ name: 'Rex', chip: null, doctor: 'house', tags: ['x'] })
  const updated = await records.doctor.update('house', {})
  const destroyed = await records.tag.destroy('x')
  const count = await records.pet.count({ where: { owner: null } })
  return { page, found, selected, omitted, one, selectedOne, some, later, created, updated, destroyed, count }
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
  Expect<Equal<Calls['later'], Page<Both<Partial<Pet>, { id: number }>>>>,
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
  // @ts-expect-error many records are not selected
  await records.pet.find({ select: ['tags'] })
  // @ts-expect-error the key is always there
  await records.pet.find({ omit: ['id'] })
  // @ts-expect-error no such attribute
  await records.pet.find({ sort: 'nme DESC' })
  // @ts-expect-error no number
  await records.pet.find({ limit: '10' })
  // @ts-expect-error the key is a number
  await records.pet.findOne('1')
  // @ts-expect-error a record has a name
  await records.pet.create({ chip: null, doctor: 'house' })
  // @ts-expect-error no such attribute
  await records.pet.create({ name: 'Rex', chip: null, doctor: 'house', nme: 'Rex' })
  // @ts-expect-error set by the service
  await records.pet.create({ name: 'Rex', chip: null, doctor: 'house', createdAt: '2026' })
  // @ts-expect-error a default, but not null
  await records.pet.update(1, { kind: null })
  // @ts-expect-error a key does not change
  await records.pet.update(1, { id: 2 })
  // @ts-expect-error keys of tags are texts
  await records.pet.update(1, { tags: [1] })
  // @ts-expect-error no such attribute
  await records.pet.count({ where: { nme: 'Rex' } })
  const { data } = await records.pet.find({ select: ['name'] })
  // @ts-expect-error not selected
  data[0]?.kind
}

// ---- slips of the pen in the models ---------------------------------------------------------------------------------

declare({
  models: {
    ok: { attributes: { self: { model: 'ok' }, many: { collection: 'ok', via: 'self' }, link: { model: 'wrong' } } },
    wrong: {
      attributes: {
        // @ts-expect-error no such word
        a: { type: 'string', requird: true },
        // @ts-expect-error no such model
        b: { model: 'okk' },
        // @ts-expect-error no such model
        c: { collection: 'okk', via: 'self' },
        // @ts-expect-error no such attribute in `ok`
        d: { collection: 'ok', via: 'slef' },
        e: { collection: 'ok', through: 'link', via: 'whatever the link says' },
        f: { collection: 'ok', via: 'link' },
      },
    },
    // @ts-expect-error no such word
    other: { tabelName: 'others', attributes: {} },
  },
})
declare({
  // @ts-expect-error no such type
  models: { pet: { attributes: { name: { type: 'text' } } } },
})

// ---- models that only the running program knows ---------------------------------------------------------------------

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
  const updated = await looseRecords.pet?.update(1, { name: null })
  const file = await halfRecords.file.create({ name: 'x', size: 3 })
  const known = await halfRecords.known.find({
    where: { to: 1, name: { contains: 'x' }, extra: { contains: 'x' }, from: { startsWith: 'x' } },
  })
  return { found, selected, one, created, updated, file, known }
}
type Loose = Awaited<ReturnType<typeof looseCalls>>

export type LooseChecks = [
  Expect<Equal<RecordOf<ModelDefinitions, string>, { [name: string]: Json }>>,
  Expect<Equal<Where<ModelDefinitions, string>, JsonObject>>,
  Expect<Equal<KeyOf<ModelDefinitions, string>, number | string>>,
  Expect<Equal<Loose['found'], Page<{ [name: string]: Json }> | undefined>>,
  Expect<Equal<NonNullable<Loose['selected']>['data'][number]['name'], Json>>,
  Expect<Equal<NonNullable<Loose['one']>['size'], Json>>,
  Expect<Equal<Loose['file'], { [name: string]: Json }>>,
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
