import type { Verb } from '../../protocol/change.ts'
import type { ModelDefinitions } from '../definition.ts'
import type { EventJobContext, JobOptions } from '../job.ts'
import type { ModelName } from './attributes-of.ts'
import type { RecordOf } from './record-of.ts'

/** Jobs by model, with the types of their records. */
export type JobsOf<M extends ModelDefinitions> = { readonly [N in ModelName<M>]?: ModelJobs<M, N> }

type ModelJobs<M extends ModelDefinitions, N extends ModelName<M>> = {
  readonly [verb in Verb]?: ModelJob<M, N> | readonly ModelJob<M, N>[]
}

/** `in out`: the compiler would otherwise compare the models recursively. */
interface ModelJob<in out M extends ModelDefinitions, in out N extends ModelName<M>> extends JobOptions {
  readonly name: string
  readonly sameAs?: string
  run(record: RecordOf<M, N>, context: EventJobContext): unknown
}
