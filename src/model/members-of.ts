import type { AssociationName, KeyNamed, TargetNamed, ToManyName, ToOneName } from './associations-of.ts'
import type { ModelName } from './attributes-of.ts'
import type { ModelDefinitions } from './definition.ts'
import type { Criteria, Omission, Paging, Population, Selection, Showing } from './find-options.ts'
import type { Found, Page } from './found.ts'
import type { Exactly } from './mistake.ts'
import type { KeyOf } from './value-of.ts'

/** What can be done with the associations of the records of one model. */
export interface Members<M extends ModelDefinitions, N extends ModelName<M>> {
  /**
   * What an association leads to: for to-many a page, as `find` answers it; for to-one the record, or undefined when
   * there is none.
   */
  related<
    const Name extends AssociationName<M, N>,
    const Select extends Selection<M, TargetNamed<M, N, Name>> = undefined,
    const Omitted extends Omission<M, TargetNamed<M, N, Name>> = undefined,
    const Populated extends Population<M, TargetNamed<M, N, Name>> = undefined,
  >(
    id: KeyOf<M, N>,
    association: Name,
    options?: Showing<Select, Omitted, Exactly<Population<M, TargetNamed<M, N, Name>>, Populated>> &
      Listing<M, N, Name>,
  ): Promise<
    Related<M, N, Name, Found<M, TargetNamed<M, N, Name>, { select: Select; omit: Omitted; populate: Populated }>>
  >
  /** A record becomes a member of a to-many association. Answers the record that has the association, with its members. */
  add<const Name extends ToManyName<M, N>>(
    id: KeyOf<M, N>,
    association: Name,
    member: KeyNamed<M, N, Name>,
  ): Promise<WithMembers<M, N, Name>>
  /** A record is no longer a member. One that never was changes nothing. */
  remove<const Name extends ToManyName<M, N>>(
    id: KeyOf<M, N>,
    association: Name,
    member: KeyNamed<M, N, Name>,
  ): Promise<WithMembers<M, N, Name>>
  /** These become the members, and no others are. */
  replace<const Name extends ToManyName<M, N>>(
    id: KeyOf<M, N>,
    association: Name,
    members: readonly KeyNamed<M, N, Name>[],
  ): Promise<WithMembers<M, N, Name>>
}

/** What can only be asked of many records. */
type Listing<M extends ModelDefinitions, N extends ModelName<M>, Name> =
  Name extends ToManyName<M, N> ? Criteria<M, TargetNamed<M, N, Name>> & Paging : unknown

type Related<M extends ModelDefinitions, N extends ModelName<M>, Name, R> =
  | (Name extends ToManyName<M, N> ? Page<R> : never)
  | (Name extends ToOneName<M, N> ? R | undefined : never)

type WithMembers<M extends ModelDefinitions, N extends ModelName<M>, Name extends string> = Found<
  M,
  N,
  { readonly populate: readonly [Name] }
>
