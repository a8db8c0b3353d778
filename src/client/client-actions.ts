import type { ActionDefinition } from '../model/actions/action.ts'
import type { CallOptions } from './options.ts'

/** The actions of a model: those on a record take its key first. */
export type ClientModelActions<Definition, Key> = Definition extends { readonly actions: infer A }
  ? {
      readonly [K in keyof A]: A[K] extends ActionDefinition<infer On, infer Input, infer Result>
        ? On extends 'record'
          ? (id: Key, ...input: Arguments<Input>) => Promise<Received<Result>>
          : (...input: Arguments<Input>) => Promise<Received<Result>>
        : never
    }
  : unknown

/** The actions of the service. */
export type ClientActions<A> = {
  readonly [K in keyof A]: A[K] extends ActionDefinition<infer _, infer Input, infer Result>
    ? (...input: Arguments<Input>) => Promise<Received<Result>>
    : never
}

type Arguments<Input> = [Input] extends [undefined]
  ? [input?: undefined, call?: CallOptions]
  : undefined extends Input
    ? [input?: Input, call?: CallOptions]
    : [input: Input, call?: CallOptions]

/** A reply is its value; a file or a stream is the response itself. */
type Received<Result> = Result extends { readonly value: infer Value; readonly status: number }
  ? Value
  : Result extends { readonly content: unknown } | AsyncIterable<unknown> | Uint8Array
    ? Response
    : Result
