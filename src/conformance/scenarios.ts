import type { Scenario } from './scenario.ts'
import { associationLists } from './scenarios/association-lists.ts'
import { batch } from './scenarios/batch.ts'
import { bodies } from './scenarios/bodies.ts'
import { coercion } from './scenarios/coercion.ts'
import { create } from './scenarios/create.ts'
import { crossSite } from './scenarios/cross-site.ts'
import { cursors } from './scenarios/cursors.ts'
import { destroy } from './scenarios/destroy.ts'
import { errors } from './scenarios/errors.ts'
import { forms } from './scenarios/forms.ts'
import { hidden } from './scenarios/hidden.ts'
import { hostileInput } from './scenarios/hostile-input.ts'
import { idempotency } from './scenarios/idempotency.ts'
import { jsonp } from './scenarios/jsonp.ts'
import { keys } from './scenarios/keys.ts'
import { limits } from './scenarios/limits.ts'
import { manyRecords } from './scenarios/many-records.ts'
import { membershipRemoval } from './scenarios/membership-removal.ts'
import { memberships } from './scenarios/memberships.ts'
import { nestedWrites } from './scenarios/nested-writes.ts'
import { paging } from './scenarios/paging.ts'
import { parameters } from './scenarios/parameters.ts'
import { populate } from './scenarios/populate.ts'
import { projection } from './scenarios/projection.ts'
import { related } from './scenarios/related.ts'
import { routeSettings } from './scenarios/route-settings.ts'
import { routes } from './scenarios/routes.ts'
import { sailsNotations } from './scenarios/sails-notations.ts'
import { sorting } from './scenarios/sorting.ts'
import { textSearch } from './scenarios/text-search.ts'
import { timestamps } from './scenarios/timestamps.ts'
import { uniqueAndExists } from './scenarios/unique-and-exists.ts'
import { update } from './scenarios/update.ts'
import { versions } from './scenarios/versions.ts'
import { where } from './scenarios/where.ts'
import { whereRefusals } from './scenarios/where-refusals.ts'

/** All requirements of the interface. To add a subject: a file in `scenarios/` and a line here. */
export const serviceConformance: readonly Scenario[] = [
  ...routes,
  ...routeSettings,
  ...parameters,
  ...bodies,
  ...forms,
  ...coercion,
  ...create,
  ...update,
  ...destroy,
  ...where,
  ...whereRefusals,
  ...sailsNotations,
  ...textSearch,
  ...sorting,
  ...paging,
  ...cursors,
  ...projection,
  ...hidden,
  ...associationLists,
  ...memberships,
  ...membershipRemoval,
  ...nestedWrites,
  ...manyRecords,
  ...batch,
  ...idempotency,
  ...populate,
  ...related,
  ...keys,
  ...uniqueAndExists,
  ...timestamps,
  ...versions,
  ...errors,
  ...jsonp,
  ...crossSite,
  ...hostileInput,
  ...limits,
]
