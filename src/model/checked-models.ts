import type { None, OwnAttributes } from './attributes-of.ts'
import type { AttributeDefinition, AttributeDefinitions, ModelDefinition, ModelDefinitions } from './definition.ts'
import type { Mistake, UnknownWord } from './mistake.ts'

/**
 * What literal models must fulfil beside being `ModelDefinitions`, so that a slip of the pen is an error where it was
 * made: no unknown words, and associations name models and attributes that exist. To be written as an intersection,
 * `models: M & CheckedModels<M, Shared>`, which leaves the inference of `M` alone.
 */
export type CheckedModels<M extends ModelDefinitions, Shared extends AttributeDefinitions = None> = {
  readonly [N in keyof M]: keyof M[N] extends keyof ModelDefinition
    ? { readonly attributes?: CheckedAttributes<OwnAttributes<M[N]>, M, keyof Shared> }
    : UnknownWord<keyof M[N], keyof ModelDefinition>
}

type CheckedAttributes<A, M extends ModelDefinitions, SharedNames> = {
  readonly [K in keyof A]: A[K] extends false
    ? unknown
    : keyof A[K] extends keyof AttributeDefinition
      ? CheckedAssociation<A[K], M, SharedNames>
      : UnknownWord<keyof A[K], keyof AttributeDefinition>
}

/** With `through` a model in between has the attribute that `via` names; the start checks that one. */
type CheckedAssociation<A, M extends ModelDefinitions, SharedNames> = A extends
  | { readonly model: infer Target extends string }
  | { readonly collection: infer Target extends string }
  ? Target extends keyof M
    ? A extends { readonly through: unknown }
      ? unknown
      : A extends { readonly via: infer Via extends string }
        ? Known<
            Via,
            (keyof OwnAttributes<M[Target]> | SharedNames) & string,
            `there is no attribute ${Via} in ${Target}`
          >
        : unknown
    : Known<Target, keyof M & string, `there is no model ${Target}`>
  : unknown

type Known<Name extends string, Names extends string, Message extends string> = Name extends Names
  ? unknown
  : Mistake<Message, Names>
