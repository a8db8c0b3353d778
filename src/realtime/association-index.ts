import type { Association, Attribute, HasMany, ManyToMany, Model, Models } from '../model/model.ts'

/** An association together with the model that declares it. */
export interface DeclaredAssociation<A extends Association> {
  readonly owner: Model
  readonly association: A
}

/** Which associations a change of a row affects. Built once from the models. */
export interface AssociationIndex {
  readonly models: Models
  /** By foreign key: the to-many associations whose members it determines. */
  readonly byForeignKey: ReadonlyMap<Attribute, readonly DeclaredAssociation<HasMany>[]>
  /** By junction: the associations whose members are its rows. */
  readonly byJunction: ReadonlyMap<Model, readonly DeclaredAssociation<ManyToMany>[]>
  /** The associations through a model that may have several rows for a pair. */
  readonly repeating: readonly DeclaredAssociation<ManyToMany>[]
  /** By the name of a model: the models of whose records there may be events when a row of it changes. */
  readonly affectedModels: ReadonlyMap<string, readonly string[]>
}

export function indexAssociations(models: Models): AssociationIndex {
  const declared = [...models.values()].flatMap((owner) =>
    [...owner.associations.values()].map((association) => ({ owner, association })),
  )
  const hasMany = declared.filter((item): item is DeclaredAssociation<HasMany> => item.association.kind === 'hasMany')
  const manyToMany = declared.filter(
    (item): item is DeclaredAssociation<ManyToMany> => item.association.kind === 'manyToMany',
  )
  const byForeignKey = Map.groupBy(hasMany, ({ association }) => association.via)
  const byJunction = Map.groupBy(manyToMany, ({ association }) => association.junction)
  const affectedBy = (model: Model): readonly string[] => {
    const throughKeys = [...model.attributes.values()].flatMap((attribute) => byForeignKey.get(attribute) ?? [])
    const owners = [...throughKeys, ...(byJunction.get(model) ?? [])].map(({ owner }) => owner.name)
    return [...new Set(model.isJunction ? owners : [model.name, ...owners])]
  }
  const affectedModels = new Map([...models.values()].map((model) => [model.name, affectedBy(model)]))
  const repeating = manyToMany.filter(({ association }) => mayRepeat(association))
  return { models, byForeignKey, byJunction, repeating, affectedModels }
}

/** Whether the junction may contain several rows for one pair: no unique index on the foreign keys prevents it. */
function mayRepeat({ junction, near, far }: ManyToMany): boolean {
  if (junction.isJunction || near.unique || far.unique) return false
  const isOfPair = ({ attribute }: { readonly attribute: Attribute }) => attribute === near || attribute === far
  return !junction.indexes.some(({ unique, where, columns }) => unique && where.length === 0 && columns.every(isOfPair))
}
