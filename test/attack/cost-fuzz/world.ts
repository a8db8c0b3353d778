import type { ModelDefinitions } from '../../../src/index.ts'

/** What a generator needs to know of a model. Each primary key is `id`. */
export interface Shape {
  /** The key of one of the stored records, which are numbered from 1. */
  readonly key: (number: number) => number | string
  readonly texts: readonly string[]
  readonly numbers: readonly string[]
  /** To-one and to-many associations with their models. */
  readonly one: readonly (readonly [name: string, model: string])[]
  readonly many: readonly (readonly [name: string, model: string])[]
}

/** Models, and the records that they are searched in. */
export interface World {
  /** As data, from which another process makes the same models. */
  readonly models: ModelDefinitions
  readonly shapes: Readonly<Record<string, Shape>>
  /** The model of which others read a record meanwhile, and most requests ask for. */
  readonly main: string
  /** Statements that insert about so many records into the largest tables. `numbers` selects `n` from 1 to a count. */
  readonly fill: (rows: number, numbers: (count: number) => string) => readonly string[]
}
