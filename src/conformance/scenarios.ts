import type { Scenario } from './scenario.ts'
import { bodies } from './scenarios/bodies.ts'
import { coercion } from './scenarios/coercion.ts'
import { create } from './scenarios/create.ts'
import { destroy } from './scenarios/destroy.ts'
import { paging } from './scenarios/paging.ts'
import { parameters } from './scenarios/parameters.ts'
import { projection } from './scenarios/projection.ts'
import { routeSettings } from './scenarios/route-settings.ts'
import { routes } from './scenarios/routes.ts'
import { sorting } from './scenarios/sorting.ts'
import { textSearch } from './scenarios/text-search.ts'
import { update } from './scenarios/update.ts'
import { where } from './scenarios/where.ts'

/** Everything the interface promises. To add a subject: a file in `scenarios/` and a line here. */
export const serviceConformance: readonly Scenario[] = [
  ...routes,
  ...routeSettings,
  ...parameters,
  ...bodies,
  ...coercion,
  ...create,
  ...update,
  ...destroy,
  ...where,
  ...textSearch,
  ...sorting,
  ...paging,
  ...projection,
]
