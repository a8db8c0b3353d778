/*
 * The types of records and of their inputs.
 */
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import type { Json } from '../../protocol/json.ts'
import { type Both, type Clinic, declare, type Equal, type Expect, type Times } from './clinic.types.ts'
import type { CreateInput, RecordOf, UpdateInput } from './record-of.ts'
import type { KeyOf } from './value-of.ts'

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
        secret?: string | null
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
        secret?: string | null
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
export type Odd = typeof columns

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
