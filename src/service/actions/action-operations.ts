import type { DeclaredAction, DeclaredActions } from '../../model/actions/declare-actions.ts'
import { type Model, type Models, originalOf } from '../../model/model.ts'
import type { Operation } from '../../operation/operation.ts'
import type { DispatchContext } from '../dispatch/context.ts'
import { type ActionInput, createActionOperation } from './action-operation.ts'

/** By name in lower case. */
export type OperationsByName = ReadonlyMap<string, ActionOperation>
export interface ActionOperation {
  readonly action: DeclaredAction
  readonly operation: Operation<ActionInput>
}

/**
 * The actions of a service as operations. They are part of the routes, which are part of the context that they run in:
 * `context` is set when it exists.
 */
export class ActionOperations {
  readonly service: OperationsByName
  readonly #ofModel = new Map<Model, OperationsByName>()
  context: DispatchContext | undefined

  constructor(models: Models, actions: DeclaredActions) {
    this.service = this.#create(actions, undefined)
    for (const model of models.values())
      if (model.actions.size > 0) this.#ofModel.set(model, this.#create(model.actions, model))
  }

  /** Whether there are any. */
  get isEmpty(): boolean {
    return this.service.size === 0 && this.#ofModel.size === 0
  }

  ofModel(model: Model): OperationsByName {
    return this.#ofModel.get(originalOf(model)) ?? none
  }

  #create(actions: DeclaredActions, model: Model | undefined): OperationsByName {
    const contextOf = () => {
      if (!this.context) throw new Error('Bug in keelson: an action runs before its service')
      return this.context
    }
    return new Map(
      [...actions].map(([name, action]) => [
        name,
        { action, operation: createActionOperation(action, model, contextOf) as Operation<ActionInput> },
      ]),
    )
  }
}

const none: OperationsByName = new Map()
