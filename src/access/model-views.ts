import { type Association, type Attribute, everyAttribute, type Model, type Models } from '../model/model.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'

/** The models as a requester knows them. */
export interface ModelViews {
  /** Identifies the set of names; requesters with the same one share parsed requests. */
  readonly key: string
  of(model: Model): Model
}

const allNames: ModelViews = { key: '', of: (model) => model }

/** Views by the attributes that they leave out. There are as many as there are combinations of static rules in use. */
export class ViewCache {
  readonly #models: Models
  readonly #numbers: ReadonlyMap<Attribute, number>
  readonly #views = new Map<string, ModelViews>()

  constructor(models: Models) {
    this.#models = models
    const attributes = [...models.values()].flatMap((model) => everyAttribute(model))
    this.#numbers = new Map(attributes.map((attribute, number) => [attribute, number]))
  }

  without(unreadable: ReadonlySet<Attribute>): ModelViews {
    if (unreadable.size === 0) return allNames
    const key = [...unreadable].map((attribute) => this.#numbers.get(attribute)).join()
    return getOrInsertComputed(this.#views, key, () => createViews(key, this.#models, unreadable))
  }
}

interface Unfinished extends Model {
  readonly associations: Map<string, Association>
}

function createViews(key: string, models: Models, unreadable: ReadonlySet<Attribute>): ModelViews {
  const views = new Map<Model, Unfinished>()
  for (const model of models.values()) {
    const attributes = new Map([...model.attributes].filter(([, attribute]) => !unreadable.has(attribute)))
    const computed = new Map([...model.computed].filter(([, attribute]) => !unreadable.has(attribute)))
    const view: Unfinished = { ...model, attributes, computed, associations: new Map(), original: model }
    views.set(model, view)
  }
  const of = (model: Model): Model => views.get(model) ?? model
  for (const [model, view] of views) {
    for (const [name, association] of model.associations) {
      if (keysOf(association).some((attribute) => unreadable.has(attribute))) continue
      view.associations.set(name, { ...association, target: of(association.target) })
    }
  }
  return { key, of }
}

/** An association shows the values of these: where one is unreadable, so is the association. */
function keysOf(association: Association): readonly Attribute[] {
  switch (association.kind) {
    case 'belongsTo':
      return [association.foreignKey]
    case 'hasMany':
      return [association.via]
    case 'manyToMany':
      return [association.near, association.far]
  }
}
