import type { AssociationsOf, TargetOf } from './associations-of.ts'
import type { AttributesOf, ModelName, PrimaryKeyName } from './attributes-of.ts'
import type { ModelDefinitions } from './definition.ts'
import type { RecordOf, Simplify } from './record-of.ts'
import type { Sortable, SortBy } from './sort-of.ts'
import type { ToOne } from './value-of.ts'
import type { Where } from './where-of.ts'

/** Which records to find, in which order, and what of them. */
export type FindOptions<
  M extends ModelDefinitions,
  N extends ModelName<M>,
  Select = Selection<M, N>,
  Omitted = Omission<M, N>,
  Populated = Population<M, N>,
> = Simplify<Showing<Select, Omitted, Populated> & Criteria<M, N> & Paging>

/** What of a record. */
export type FindOneOptions<
  M extends ModelDefinitions,
  N extends ModelName<M>,
  Select = Selection<M, N>,
  Omitted = Omission<M, N>,
  Populated = Population<M, N>,
> = Showing<Select, Omitted, Populated>

/** How a record is answered. The primary key always is; `select` wins when `omit` is given too. */
export interface Showing<Select, Omitted, Populated> {
  /** The attributes to answer. */
  readonly select?: Select
  /** The attributes not to answer. */
  readonly omit?: Omitted
  /** The associations to embed: their names, or `{ pets: true }`, or `{ pets: { where, sort, limit, … } }`. */
  readonly populate?: Populated
}

/** Which records, and in which order. */
export interface Criteria<M extends ModelDefinitions, N extends ModelName<M>> {
  readonly where?: Where<M, N>
  readonly sort?: SortBy<keyof Sortable<M, AttributesOf<M, N>> & string>
  readonly limit?: number
  readonly skip?: number
}

/** What only the outermost list has. */
export interface Paging {
  /** Where to begin: what `next` of the page before said. */
  readonly cursor?: string
  /** Whether to say how many there are on all pages. */
  readonly count?: boolean
}

/** Names of attributes; to-many associations are embedded and not selected. */
export type Selection<M extends ModelDefinitions, N extends ModelName<M>> =
  | readonly (keyof RecordOf<M, N> & string)[]
  | undefined
/** Names of attributes that can be left out. */
export type Omission<M extends ModelDefinitions, N extends ModelName<M>> =
  | readonly Exclude<keyof RecordOf<M, N> & string, PrimaryKeyName<M[N]>>[]
  | undefined
/** Names of associations, or what is wanted of each. */
export type Population<M extends ModelDefinitions, N extends ModelName<M>> =
  | readonly (keyof AssociationsOf<M, N> & string)[]
  | { readonly [K in keyof AssociationsOf<M, N>]?: true | EmbedOptions<M, AssociationsOf<M, N>[K]> }
  | undefined

/** What is wanted of the other side of an association. */
type EmbedOptions<M extends ModelDefinitions, A> = A extends ToOne
  ? OneOptions<M, TargetOf<M, A>>
  : ManyOptions<M, TargetOf<M, A>>

/** Of many records a page. */
interface ManyOptions<M extends ModelDefinitions, N extends ModelName<M>> extends Shown<M, N>, Criteria<M, N> {}
/** Of one record how it is answered, and whether: one that does not fulfil `where` is not embedded. */
interface OneOptions<M extends ModelDefinitions, N extends ModelName<M>>
  extends Shown<M, N>,
    Pick<Criteria<M, N>, 'where'> {}
type Shown<M extends ModelDefinitions, N extends ModelName<M>> = Showing<
  Selection<M, N>,
  Omission<M, N>,
  Population<M, N>
>
