import type { ActionDefinition } from '../actions/action.ts'

/*
 * The actions of a model or a service as functions, for code in the same process.
 */

/** The actions among the definitions of a model: those on a record take its key first. */
export type ModelActions<Definition, Key> = Definition extends { readonly actions: infer A }
  ? {
      readonly [K in keyof A]: A[K] extends ActionDefinition<infer On, infer Input, infer Result>
        ? On extends 'record'
          ? (id: Key, ...input: InputArguments<Input>) => Promise<Result>
          : (...input: InputArguments<Input>) => Promise<Result>
        : never
    }
  : unknown

/** The actions of the service. */
export type ServiceActions<A> = {
  readonly [K in keyof A]: A[K] extends ActionDefinition<infer _, infer Input, infer Result>
    ? (...input: InputArguments<Input>) => Promise<Result>
    : never
}

/** An input that may be undefined may be omitted. */
type InputArguments<Input> = [Input] extends [undefined]
  ? []
  : undefined extends Input
    ? [input?: Input]
    : [input: Input]
