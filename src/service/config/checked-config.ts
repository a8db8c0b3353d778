import type { Action, AnyUser, RoleOf } from '../../model/access-rules.ts'
import type { ActionDefinitions } from '../../model/actions/action.ts'
import type { AttributeDefinitions, ModelDefinitions } from '../../model/definition.ts'
import type { None, Registry } from '../../model/inference/attributes-of.ts'
import type { CheckedAttributeAccess, CheckedModels } from '../../model/inference/checked-models.ts'
import type { CompileError } from '../../model/inference/compile-errors.ts'
import type { AuthOptions } from '../auth/identify.ts'
import type { Settings } from './config.ts'

/**
 * A configuration as the compiler infers and checks it. `U`, the user of the rules, is what `auth.identify` returns.
 *
 * The parameters of rules are inferred from `ModelDefinitions` and `AttributeDefinitions` here, and not from constraints of
 * `M` and `Shared`: as soon as one type parameter has a candidate, such as `Shared`, the compiler takes the constraints
 * of the others with what it knows then, which is nothing of `U`. The checks are kept out of the inference: they would
 * settle `U` before `identify` is looked at.
 */
export type CheckedConfig<
  M extends InferredModels,
  Shared extends InferredAttributes | undefined,
  U,
  A extends ActionDefinitions | undefined,
  Late,
> = Settings<NoInfer<Registry<ModelsOf<M>, SharedOf<Shared>>>, U> & {
  readonly models: M &
    ModelDefinitions<RuleUser<U>> &
    NoInfer<CheckedModels<ModelsOf<M>, SharedOf<Shared>, RoleOf<KnownUser<U>>>>
  readonly attributes?: Shared &
    AttributeDefinitions<RuleUser<U>> &
    NoInfer<CheckedAttributeAccess<Shared, RoleOf<KnownUser<U>>>>
  readonly actions?: A
  readonly auth?: AuthOptions<Late> & NoInfer<InOrder<U, Late>>
}

/**
 * `Late` is inferred from `auth` alone, and `U` until its first use: if that precedes `auth`, the user of the rules before it
 * would be anything.
 */
type InOrder<U, Late> = unknown extends U
  ? unknown extends Late
    ? unknown
    : CompileError<'auth must be placed before the rules, which are about its user', Late>
  : unknown

/** What models are inferred from. The functions of rules are any objects, which give their parameters no types. */
export type InferredModels = { readonly [name: string]: InferredModel }
type InferredModel = object & {
  readonly access?: string | { readonly [action in Action]?: InferredRule } | undefined
  readonly attributes?: InferredAttributes | undefined
}
export type InferredAttributes = { readonly [name: string]: false | InferredAttribute }
type InferredAttribute = object & { readonly access?: { readonly read?: InferredRule; readonly write?: InferredRule } }
type InferredRule = boolean | string | object

/** `any` in place of `unknown`, which is inferred if nothing says the type of a user. */
export type KnownUser<U> = unknown extends U ? AnyUser : U
/** As `KnownUser`, but nothing is inferred from this form: `U` follows from `auth`, and not from the parameters of rules. */
type RuleUser<U> = [AnyUser, U][unknown extends U ? 0 : 1]

/** The models, or `ModelDefinitions` if nothing was inferred. */
export type ModelsOf<M> = M extends ModelDefinitions ? M : ModelDefinitions

/**
 * The shared attributes, or none. A type parameter with a default would be that default wherever it is the context of a
 * function; without a default, absent attributes are inferred as the constraint, which contains undefined.
 */
export type SharedOf<Shared> = [undefined] extends [Shared] ? None : Extract<Shared, AttributeDefinitions>

/** The actions of the service, or none, in the same way. */
export type OwnActionsOf<A> = [undefined] extends [A] ? None : Extract<A, ActionDefinitions>
