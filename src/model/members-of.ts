import type { RecordId } from '../protocol/change.ts'
import type { AssociationsOf, TargetOf, ToManyOf, ToOneOf } from './associations-of.ts'
import type { ModelName } from './attributes-of.ts'
import type { ModelDefinitions } from './definition.ts'
import type { Criteria, Omission, Paging, Population, Selection, Showing } from './find-options.ts'
import type { Found, Page } from './found.ts'
import type { Exactly } from './mistake.ts'
import type { KeyOf, ToMany } from './value-of.ts'

/**
 * What can be done with the associations of the records of one model. Records of other models are something else, and `in out`
 * says so: to find out, the compiler would walk from model to model and give up.
 */
export interface Members<in out M extends ModelDefinitions, in out N extends ModelName<M>> {
  /**
   * What an association leads to: for to-many a page, as `find` answers it; for to-one the record, or undefined when
   * there is none.
   */
  related<
    const Name extends keyof AssociationsOf<M, N> & string,
    const Select extends Selection<M, TargetNamed<M, N, Name>> = undefined,
    const Omitted extends Omission<M, TargetNamed<M, N, Name>> = undefined,
    const Populated extends Population<M, TargetNamed<M, N, Name>> = undefined,
  >(
    id: KeyOf<M, N>,
    association: Name,
    options?: Showing<Select, Omitted, Populated & Exactly<Population<M, TargetNamed<M, N, Name>>, Populated>> &
      Listing<M, N, Name>,
  ): Promise<
    Related<M, N, Name, Found<M, TargetNamed<M, N, Name>, { select: Select; omit: Omitted; populate: Populated }>>
  >
  /** A record becomes a member of a to-many association. Answers the record that has the association, with its members. */
  add<const Name extends keyof ToManyOf<M, N> & string>(
    id: KeyOf<M, N>,
    association: Name,
    member: KeyNamed<M, N, Name>,
  ): Promise<WithMembers<M, N, Name>>
  /** A record is no longer a member. One that never was changes nothing. */
  remove<const Name extends keyof ToManyOf<M, N> & string>(
    id: KeyOf<M, N>,
    association: Name,
    member: KeyNamed<M, N, Name>,
  ): Promise<WithMembers<M, N, Name>>
  /** These become the members, and no others are. */
  replace<const Name extends keyof ToManyOf<M, N> & string>(
    id: KeyOf<M, N>,
    association: Name,
    members: readonly KeyNamed<M, N, Name>[],
  ): Promise<WithMembers<M, N, Name>>
}

type TargetNamed<M extends ModelDefinitions, N extends ModelName<M>, Name> = TargetOf<M, Named<M, N, Name>>
type KeyNamed<M extends ModelDefinitions, N extends ModelName<M>, Name> =
  Named<M, N, Name> extends ToMany<infer Target> ? KeyOf<M, Target> : RecordId
type Named<M extends ModelDefinitions, N extends ModelName<M>, Name> = AssociationsOf<M, N>[Name &
  keyof AssociationsOf<M, N>]

/** What can only be asked of many records. */
type Listing<M extends ModelDefinitions, N extends ModelName<M>, Name> = Name extends keyof ToManyOf<M, N>
  ? Criteria<M, TargetNamed<M, N, Name>> & Paging
  : unknown

/** Of a model that only the running program knows, it may be either. */
type Related<M extends ModelDefinitions, N extends ModelName<M>, Name, R> = Name extends keyof ToOneOf<M, N>
  ? (Name extends keyof ToManyOf<M, N> ? Page<R> : never) | R | undefined
  : Page<R>

type WithMembers<M extends ModelDefinitions, N extends ModelName<M>, Name extends string> = Found<
  M,
  N,
  { readonly populate: readonly [Name] }
>
