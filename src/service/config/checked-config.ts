import type { ActionDefinitions } from '../../model/actions/action.ts'
import type { AttributeDefinitions, ModelDefinitions } from '../../model/definition.ts'
import type { None } from '../../model/inference/attributes-of.ts'
import type { CheckedModels } from '../../model/inference/checked-models.ts'
import type { Config } from './config.ts'

/**
 * A configuration as the compiler infers and checks it. `U`, the user of the rules, is what `auth.identify` returns. The
 * checks are kept out of the inference: they would settle `U` before `identify` is looked at.
 */
export type CheckedConfig<
  M extends ModelDefinitions,
  Shared extends AttributeDefinitions | undefined,
  U,
  A extends ActionDefinitions | undefined,
> = Config<M, SharedOf<Shared>, U, OwnActionsOf<A>> & {
  readonly models: NoInfer<CheckedModels<M, SharedOf<Shared>>>
  readonly attributes?: Shared
  readonly actions?: A
}

/**
 * The shared attributes, or none. A type parameter with a default would be that default wherever it is the context of a
 * function, as in the rules of attributes; without a default, absent attributes are inferred as the constraint, which
 * contains undefined.
 */
export type SharedOf<Shared> = [undefined] extends [Shared] ? None : Extract<Shared, AttributeDefinitions>

/** The actions of the service, or none, in the same way. */
export type OwnActionsOf<A> = [undefined] extends [A] ? None : Extract<A, ActionDefinitions>
