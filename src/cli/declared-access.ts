import { publicRules } from '../model/access-rules.ts'
import { ConfigError } from '../model/config-error.ts'
import type { Model } from '../model/model.ts'
import { type Definitions, definitionsOf } from '../service/config/check-config.ts'
import type { AnyConfig } from '../service/config/config.ts'
import { defaultRules } from '../service/config/default-access.ts'

/** The models that every requester may read and write, because neither they nor the configuration declare `access`. */
export const openModels = (models: Iterable<Model>, config: AnyConfig): readonly string[] =>
  defaultRules(config) === undefined
    ? [...models].filter((model) => !model.isJunction && model.access === undefined).map(({ name }) => name)
    : []

/** A warning where rules name roles that no user has: without `auth`, every request is anonymous. */
export function rolesWithoutAuth(models: Iterable<Model>, config: AnyConfig): readonly string[] {
  if (config.auth) return []
  const declared = [...models].flatMap(({ access, attributes, actions }) => [
    access,
    ...[...attributes.values()].map((attribute) => attribute.access),
    ...[...actions.values()].map((action) => ({ run: action.access })),
  ])
  const ofService = Object.values(config.actions ?? {}).map((action) => ({ run: action.access }))
  const rules = [defaultRules(config), ...declared, ...ofService].flatMap((rules) =>
    typeof rules === 'object' ? Object.values(rules) : [],
  )
  const roles = [...new Set(rules.filter((rule) => typeof rule === 'string'))]
  if (roles.length === 0) return []
  const names = roles.map((role) => `"${role}"`).join(', ')
  return [`The access rules name the role ${names}, and without auth every request is anonymous and has none`]
}

/** The actions that declare no access of their own and belong to nothing that is public. */
function undeclaredActions({ models, actions }: Definitions, { access }: AnyConfig): readonly string[] {
  const ofModels = [...models.values()]
    .filter((model) => (model.access ?? (access === 'public' ? publicRules : undefined)) !== publicRules)
    .flatMap((model) => [...model.actions.values()].map((action) => ({ place: `${model.name}.actions`, action })))
  const ofService = access === 'public' ? [] : [...actions.values()].map((action) => ({ place: 'actions', action }))
  return [...ofModels, ...ofService]
    .filter(({ action }) => action.access === undefined)
    .map(({ place, action }) => `${place}.${action.name}`)
}

/** For production. Throws a ConfigError that names every model and action without declared access. */
export function assertAccessDeclared(config: AnyConfig): void {
  const definitions = definitionsOf(config)
  const problems = [
    ...openModels(definitions.models.values(), config).map(
      (name) => `${name}: with NODE_ENV=production a model must declare its access; access: 'public' allows everything`,
    ),
    ...undeclaredActions(definitions, config).map(
      (name) => `${name}: with NODE_ENV=production an action must declare its access; access: true allows everything`,
    ),
  ]
  if (problems.length > 0) throw new ConfigError(problems)
}
