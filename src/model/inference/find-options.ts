import type { ModelDefinitions } from '../definition.ts'
import type { AssociationsOf, TargetOf } from './associations-of.ts'
import type { ModelName, PrimaryKeyName } from './attributes-of.ts'
import type { RecordOf, Simplify } from './record-of.ts'
import type { SortBy, SortName } from './sort-of.ts'
import type { ToOne } from './value-of.ts'
import type { Where } from './where-of.ts'

/** The options of `find`. */
export type FindOptions<
  M extends ModelDefinitions,
  N extends ModelName<M>,
  Select = Selection<M, N>,
  Omitted = Omission<M, N>,
  Populated = Population<M, N>,
> = Simplify<Projection<Select, Omitted, Populated> & Criteria<M, N> & Paging>

/** The options of `findOne`. */
export type FindOneOptions<
  M extends ModelDefinitions,
  N extends ModelName<M>,
  Select = Selection<M, N>,
  Omitted = Omission<M, N>,
  Populated = Population<M, N>,
> = Projection<Select, Omitted, Populated>

/** The content of returned records. The primary key is always included; `select` has precedence over `omit`. */
export interface Projection<Select, Omitted, Populated> {
  /** The attributes to include. */
  readonly select?: Select
  /** The attributes to leave out. */
  readonly omit?: Omitted
  /** The associations to embed: their names, or `{ pets: true }`, or `{ pets: { where, sort, limit, … } }`. */
  readonly populate?: Populated
}

/** The filter, order and page of a list. */
export interface Criteria<M extends ModelDefinitions, N extends ModelName<M>> {
  /**
   * The condition: values by attribute, operators such as `{ age: { '>': 3 } }`, and `and`, `or` and `not` of conditions. It may
   * include attributes of associated records.
   */
  readonly where?: Where<M, N>
  /** `'name'`, `'name DESC'`, or a list of these; `'owner.name'` is an attribute of a to-one association. */
  readonly sort?: SortBy<SortName<M, N>>
  /** The largest number of records; default 30 (`defaultLimit`), at most 1000 (`maxLimit`). */
  readonly limit?: number
  /** The number of records to skip at the beginning. They are read all the same, so `cursor` is faster for later pages. */
  readonly skip?: number
}

/** Options of the outermost list. */
export interface Paging {
  /** The `next` of the previous page, to read the page after it. */
  readonly cursor?: string
  /** Whether to count the records of all pages; the result is `total`. */
  readonly count?: boolean
}

/** Names of attributes. To-many associations are populated, not selected. */
export type Selection<M extends ModelDefinitions, N extends ModelName<M>> =
  | readonly (keyof RecordOf<M, N> & string)[]
  | undefined
/** Names of attributes to leave out. */
export type Omission<M extends ModelDefinitions, N extends ModelName<M>> =
  | readonly Exclude<keyof RecordOf<M, N> & string, PrimaryKeyName<M[N]>>[]
  | undefined
/** Names of associations, or options of each. */
export type Population<M extends ModelDefinitions, N extends ModelName<M>> =
  | readonly (keyof AssociationsOf<M, N> & string)[]
  | { readonly [K in keyof AssociationsOf<M, N>]?: true | EmbedOptions<M, AssociationsOf<M, N>[K]> }
  | undefined

/** The options of a populated association. */
type EmbedOptions<M extends ModelDefinitions, A> = A extends ToOne
  ? OneOptions<M, TargetOf<M, A>>
  : ManyOptions<M, TargetOf<M, A>>

/** To-many: a page of records. */
interface ManyOptions<M extends ModelDefinitions, N extends ModelName<M>>
  extends TargetProjection<M, N>,
    Criteria<M, N> {}
/** To-one: a record that does not match `where` is not embedded. */
interface OneOptions<M extends ModelDefinitions, N extends ModelName<M>>
  extends TargetProjection<M, N>,
    Pick<Criteria<M, N>, 'where'> {}
type TargetProjection<M extends ModelDefinitions, N extends ModelName<M>> = Projection<
  Selection<M, N>,
  Omission<M, N>,
  Population<M, N>
>
