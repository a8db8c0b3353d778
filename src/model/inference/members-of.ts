import type { RecordId } from '../../protocol/change.ts'
import type { ModelDefinitions } from '../definition.ts'
import type { AssociationsOf, TargetOf, ToManyOf, ToOneOf } from './associations-of.ts'
import type { ModelName } from './attributes-of.ts'
import type { Exactly } from './compile-errors.ts'
import type { Criteria, Omission, Paging, Population, Projection, Selection } from './find-options.ts'
import type { Found, Page } from './found.ts'
import type { KeyOf, ToMany } from './value-of.ts'

/**
 * Operations on the associations of one model. `in out` declares that different models are unrelated types; the compiler
 * would otherwise compare the models recursively. `Call` are the parameters that follow those of each operation.
 */
export interface Members<
  in out M extends ModelDefinitions,
  in out N extends ModelName<M>,
  in Call extends readonly unknown[] = [],
> {
  /**
   * The records of an association: for to-many a page, like `find`; for to-one the record, or undefined.
   */
  related<
    const Name extends keyof AssociationsOf<M, N> & string,
    const Select extends Selection<M, TargetNamed<M, N, Name>> = undefined,
    const Omitted extends Omission<M, TargetNamed<M, N, Name>> = undefined,
    const Populated extends Population<M, TargetNamed<M, N, Name>> = undefined,
  >(
    id: KeyOf<M, N>,
    association: Name,
    options?: Projection<Select, Omitted, Populated & Exactly<Population<M, TargetNamed<M, N, Name>>, Populated>> &
      ListOptions<M, N, Name>,
    ...call: Call
  ): Promise<
    Related<M, N, Name, Found<M, TargetNamed<M, N, Name>, { select: Select; omit: Omitted; populate: Populated }>>
  >
  /**
   * Adds a member to a to-many association; a record that is a member already stays one. Resolves with the record and its
   * members.
   */
  add<const Name extends keyof ToManyOf<M, N> & string>(
    id: KeyOf<M, N>,
    association: Name,
    member: KeyNamed<M, N, Name>,
    ...call: Call
  ): Promise<WithMembers<M, N, Name>>
  /**
   * Removes a member from a to-many association, without destroying it. Does nothing if the record is not a member. Resolves with
   * the record and its members.
   */
  remove<const Name extends keyof ToManyOf<M, N> & string>(
    id: KeyOf<M, N>,
    association: Name,
    member: KeyNamed<M, N, Name>,
    ...call: Call
  ): Promise<WithMembers<M, N, Name>>
  /** Replaces the members of a to-many association by these records. Resolves with the record and its members. */
  replace<const Name extends keyof ToManyOf<M, N> & string>(
    id: KeyOf<M, N>,
    association: Name,
    members: readonly KeyNamed<M, N, Name>[],
    ...call: Call
  ): Promise<WithMembers<M, N, Name>>
}

type TargetNamed<M extends ModelDefinitions, N extends ModelName<M>, Name> = TargetOf<M, Named<M, N, Name>>
type KeyNamed<M extends ModelDefinitions, N extends ModelName<M>, Name> =
  Named<M, N, Name> extends ToMany<infer Target> ? KeyOf<M, Target> : RecordId
type Named<M extends ModelDefinitions, N extends ModelName<M>, Name> = AssociationsOf<M, N>[Name &
  keyof AssociationsOf<M, N>]

/** Options of lists. */
type ListOptions<M extends ModelDefinitions, N extends ModelName<M>, Name> = Name extends keyof ToManyOf<M, N>
  ? Criteria<M, TargetNamed<M, N, Name>> & Paging
  : unknown

/** For a model that is only known at run time it may be either. */
type Related<M extends ModelDefinitions, N extends ModelName<M>, Name, R> = Name extends keyof ToOneOf<M, N>
  ? (Name extends keyof ToManyOf<M, N> ? Page<R> : never) | R | undefined
  : Page<R>

type WithMembers<M extends ModelDefinitions, N extends ModelName<M>, Name extends string> = Found<
  M,
  N,
  { readonly populate: readonly [Name] }
>
