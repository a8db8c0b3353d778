import { defineModels } from '../../model/define.ts'
import type { Model } from '../../model/model.ts'

/** The target of an action of the service: a model without records, which no store has. */
export const serviceTarget = [...defineModels({ service: {} }).values()][0] as Model
