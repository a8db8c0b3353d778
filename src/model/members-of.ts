import type { AssociationName, KeyOfTarget, TargetNamed, ToManyName, ToOneName } from './associations-of.ts'
import type { ModelName } from './attributes-of.ts'
import type { ModelDefinitions } from './definition.ts'
import type { FindOneOptions, FindOptions, Omission, Population, Selection } from './find-options.ts'
import type { Found } from './found.ts'
import type { Exactly } from './mistake.ts'
import type { Page } from './page.ts'
import type { KeyOf } from './value-of.ts'

/** What can be done with the associations of the records of one model. */
export interface Members<M extends ModelDefinitions, N extends ModelName<M>> {
  /**
   * What an association leads to: of a to-many a page, as `find` gives it; of a to-one the record, or undefined when
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
    options?: RelatedOptions<M, N, Name, Select, Omitted, Populated>,
  ): Promise<
    Related<M, N, Name, Found<M, TargetNamed<M, N, Name>, { select: Select; omit: Omitted; populate: Populated }>>
  >
  /** Makes a record a member of a to-many association; of one that already is nothing changes. */
  add<const Name extends ToManyName<M, N>>(
    id: KeyOf<M, N>,
    association: Name,
    member: KeyNamed<M, N, Name>,
  ): Promise<WithMembers<M, N, Name>>
  /** Ends a membership; where there was none nothing changes. */
  remove<const Name extends ToManyName<M, N>>(
    id: KeyOf<M, N>,
    association: Name,
    member: KeyNamed<M, N, Name>,
  ): Promise<WithMembers<M, N, Name>>
  /** Makes these the members, and no others. */
  replace<const Name extends ToManyName<M, N>>(
    id: KeyOf<M, N>,
    association: Name,
    members: readonly KeyNamed<M, N, Name>[],
  ): Promise<WithMembers<M, N, Name>>
}
