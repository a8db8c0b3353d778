import { orNearest } from '../support/nearest.ts'
import type { ErrorListener } from './config-error.ts'
import type { Draft, DraftAttribute, Drafts } from './draft.ts'
import {
  givenJunction,
  isSameJunction,
  isSameTable,
  type Junction,
  type JunctionView,
  mirroredTable,
  namedJunction,
  unnamedSide,
} from './junction.ts'
import { folded } from './names.ts'

/** A resolved association, by drafts and names: models are built after all definitions are valid. */
export type AssociationPlan =
  | { readonly kind: 'belongsTo'; readonly target: Draft }
  | { readonly kind: 'hasMany'; readonly target: Draft; readonly via: string }
  | ThroughPlan
  | ({ readonly kind: 'manyToMany'; readonly target: Draft } & JunctionView)

/** Many-to-many through a declared model. */
interface ThroughPlan {
  readonly kind: 'through'
  readonly target: Draft
  readonly through: Draft
  /** The attribute of `through` that refers to this model. */
  readonly near: string
  /** The attribute of `through` that refers to the target. */
  readonly far: string
}

export interface AssociationPlans {
  readonly associations: ReadonlyMap<Draft, ReadonlyMap<string, AssociationPlan>>
  /** The undeclared junctions, each once. */
  readonly junctions: readonly Junction[]
}

/** An association attribute and its model. */
interface Source {
  readonly draft: Draft
  readonly name: string
  readonly definition: DraftAttribute
}

/** The plan, or the problem as a text, or undefined for a problem that is reported elsewhere. */
type Resolution = AssociationPlan | string | undefined

/** Resolves the associations of all models. */
export function associate(drafts: Drafts, onError: ErrorListener): AssociationPlans {
  const associations = new Map<Draft, ReadonlyMap<string, AssociationPlan>>()
  const junctions = new Map<string, Junction>()
  for (const draft of drafts.values()) {
    const plans = new Map<string, AssociationPlan>()
    associations.set(draft, plans)
    for (const [name, definition] of draft.attributes) {
      if (definition.isBroken || !isAssociation(definition)) continue
      const resolution = resolve({ draft, name, definition }, drafts)
      const problem = typeof resolution === 'object' ? collision(resolution, junctions, drafts) : resolution
      if (problem !== undefined) onError(`${draft.name}.${name}`, problem)
      else if (typeof resolution === 'object') plans.set(name, resolution)
    }
  }
  return { associations, junctions: [...junctions.values()] }
}

export const isAssociation = (definition: DraftAttribute): boolean => targetName(definition) !== undefined

const targetName = ({ model, collection }: DraftAttribute): string | undefined => model ?? collection

const refersTo = (definition: DraftAttribute, draft: Draft): boolean =>
  folded(targetName(definition) ?? '') === folded(draft.name)

function resolve(source: Source, drafts: Drafts): Resolution {
  const { definition } = source
  const name = targetName(definition) as string
  const target = drafts.get(folded(name))
  if (!target) return noModel(name, drafts)
  if (definition.model !== undefined) return { kind: 'belongsTo', target }
  if (typeof definition.through === 'string') return throughModel(source, target, definition.through, drafts)
  if (definition.via === undefined) return oneSided(source, target)
  return twoSided(source, target, definition.via, drafts)
}

const noModel = (name: string, drafts: Drafts): string => {
  const names = [...drafts.values()].map((draft) => draft.name)
  return `there is no model "${name}"${orNearest(name, names)}`
}

const noAttribute = (via: string, { name, attributes }: Draft): string =>
  `\`via\` names "${name}.${via}", which does not exist${orNearest(via, attributes.keys())}`

/** A to-many without `via`. */
function oneSided({ draft, name, definition }: Source, target: Draft): Resolution {
  const { through } = definition
  if (typeof through === 'object') return overJunction(target, givenJunction(through, draft, target))
  const here = { draft, attribute: name }
  return overJunction(target, namedJunction(here, unnamedSide(here, target)))
}

const overJunction = (target: Draft, view: JunctionView | string): Resolution =>
  typeof view === 'string' ? view : { kind: 'manyToMany', target, ...view }

/** A to-many with `via`: a foreign key, or a to-many that uses the same junction. */
function twoSided(source: Source, target: Draft, via: string, drafts: Drafts): Resolution {
  const { draft, name, definition } = source
  const other = target.attributes.get(via)
  const place = `"${target.name}.${via}"`
  if (!other) return noAttribute(via, target)
  if (other.isBroken) return undefined
  if (!isAssociation(other)) return `\`via\` names ${place}, which is not an association`
  if (target === draft && via === name) {
    return '`via` names the attribute itself: a symmetric association needs two attributes that name each other'
  }
  if (!refersTo(other, draft))
    return `\`via\` names ${place}, which refers to "${targetName(other)}" and not to this model`
  if (other.model !== undefined) {
    if (definition.through) return `\`through\` is for many-to-many, but ${place} is to-one`
    return { kind: 'hasMany', target, via }
  }
  if (typeof other.through === 'string') {
    if (definition.through) return `\`through\` differs from that of ${place}`
    return mirrored(resolve({ draft: target, name: via, definition: other }, drafts), draft, target)
  }
  if (other.via !== name) return `\`via\` names ${place}, whose own \`via\` does not name "${name}"`
  return sharedJunction(source, target, other, via)
}

function sharedJunction(
  { draft, name, definition }: Source,
  target: Draft,
  other: DraftAttribute,
  via: string,
): Resolution {
  const own = typeof definition.through === 'object' ? definition.through : undefined
  const theirs = typeof other.through === 'object' ? mirroredTable(other.through) : undefined
  if (own && theirs && !isSameTable(own, theirs)) {
    return `\`through\` differs from that of "${target.name}.${via}": both must name the same table, with \`from\` and \`to\` exchanged`
  }
  const table = own ?? theirs
  return overJunction(
    target,
    table
      ? givenJunction(table, draft, target)
      : namedJunction({ draft, attribute: name }, { draft: target, attribute: via }),
  )
}

/** The plan of the other side, from this side. Its problems are reported at the other side. */
function mirrored(plan: Resolution, draft: Draft, target: Draft): Resolution {
  if (typeof plan !== 'object' || plan.kind !== 'through' || plan.target !== draft) return undefined
  return { ...plan, target, near: plan.far, far: plan.near }
}

function throughModel({ draft, definition }: Source, target: Draft, name: string, drafts: Drafts): Resolution {
  const { via } = definition
  const through = drafts.get(folded(name))
  if (!through) return `\`through\`: ${noModel(name, drafts)}`
  if (via === undefined)
    return `\`through: "${name}"\` needs \`via\`: the attribute of that model that refers to this one`
  const near = through.attributes.get(via)
  const place = `"${through.name}.${via}"`
  if (!near) return noAttribute(via, through)
  if (near.isBroken) return undefined
  if (near.model === undefined || !refersTo(near, draft))
    return `\`via\` names ${place}, which does not refer to this model`

  const candidates = [...through.attributes].filter(
    ([attribute, { model }]) => attribute !== via && model !== undefined && folded(model) === folded(target.name),
  )
  const [far] = candidates.map(([attribute]) => attribute)
  if (far === undefined) return `"${through.name}" has no to-one association with "${target.name}"`
  if (candidates.length > 1) {
    const names = candidates.map(([attribute]) => `"${attribute}"`).join(', ')
    return `"${through.name}" has several to-one associations with "${target.name}": ${names}`
  }
  return { kind: 'through', target, through, near: via, far }
}

/** Registers the junction of a plan. Returns a problem if its table is used for something else. */
function collision(plan: AssociationPlan, junctions: Map<string, Junction>, drafts: Drafts): string | undefined {
  if (plan.kind !== 'manyToMany') return undefined
  const { junction } = plan
  const table = folded(junction.table)
  for (const draft of drafts.values()) {
    if (folded(draft.table) === table)
      return `its junction table "${junction.table}" is the table of the model "${draft.name}"`
    if (folded(draft.name) === table) return `its junction table has the name of the model "${draft.name}"`
  }
  const other = junctions.get(table)
  if (other && !isSameJunction(other, junction)) {
    return `its junction table "${junction.table}" has other columns in another association`
  }
  if (!other) junctions.set(table, junction)
  return undefined
}
