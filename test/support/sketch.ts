import { defineModels } from '../../src/model/define.ts'
import type { AttributeDefinitions, ModelDefinition } from '../../src/model/definition.ts'
import type { Models } from '../../src/model/model.ts'

/** Models, or only the attributes of each. */
export type Sketch = { readonly [model: string]: AttributeDefinitions | ModelDefinition }

const isModel = (sketch: object): sketch is ModelDefinition => 'attributes' in sketch || 'tableName' in sketch

export const defineSketch = (sketch: Sketch): Models =>
  defineModels(
    Object.fromEntries(
      Object.entries(sketch).map(([name, it]) => [name, isModel(it) ? it : ({ attributes: it } as ModelDefinition)]),
    ),
  )
