import type { Report } from './config-error.ts'
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

/** What an association comes to, in names: the models themselves are made when everything is known to be right. */
export type Plan =
  | { readonly kind: 'belongsTo'; readonly target: Draft }
  | { readonly kind: 'hasMany'; readonly target: Draft; readonly via: string }
  | ThroughPlan
  | ({ readonly kind: 'manyToMany'; readonly target: Draft } & JunctionView)

/** Many-to-many over a model that the application declared. */
interface ThroughPlan {
  readonly kind: 'through'
  readonly target: Draft
  readonly through: Draft
  /** The attribute there that points here. */
  readonly near: string
  /** The attribute there that points to the target. */
  readonly far: string
}

export interface Plans {
  readonly associations: ReadonlyMap<Draft, ReadonlyMap<string, Plan>>
  /** The tables of pairs that nobody declared, each once. */
  readonly junctions: readonly Junction[]
}

/** One attribute that points to another model. */
interface Pointer {
  readonly draft: Draft
  readonly name: string
  readonly definition: DraftAttribute
}

/** A text is what is wrong; undefined, that something is and was reported where it is. */
type Answer = Plan | string | undefined

/** Works out every association of every model. */
export function associate(drafts: Drafts, report: Report): Plans {
  const associations = new Map<Draft, ReadonlyMap<string, Plan>>()
  const junctions = new Map<string, Junction>()
  for (const draft of drafts.values()) {
    const plans = new Map<string, Plan>()
    associations.set(draft, plans)
    for (const [name, definition] of draft.attributes) {
      if (definition.isBroken || !isAssociation(definition)) continue
      const answer = resolve({ draft, name, definition }, drafts)
      const problem = typeof answer === 'object' ? collision(answer, junctions, drafts) : answer
      if (problem !== undefined) report(`${draft.name}.${name}`, problem)
      else if (typeof answer === 'object') plans.set(name, answer)
    }
  }
  return { associations, junctions: [...junctions.values()] }
}

export const isAssociation = (definition: DraftAttribute): boolean => targetName(definition) !== undefined

const targetName = ({ model, collection }: DraftAttribute): string | undefined => model ?? collection

const pointsTo = (definition: DraftAttribute, draft: Draft): boolean =>
  folded(targetName(definition) ?? '') === folded(draft.name)

function resolve(pointer: Pointer, drafts: Drafts): Answer {
  const { definition } = pointer
  const name = targetName(definition) as string
  const target = drafts.get(folded(name))
  if (!target) return noModel(name)
  if (definition.model !== undefined) return { kind: 'belongsTo', target }
  if (typeof definition.through === 'string') return throughModel(pointer, target, definition.through, drafts)
  if (definition.via === undefined) return alone(pointer, target)
  return facing(pointer, target, definition.via, drafts)
}

const noModel = (name: string): string => `there is no model "${name}"`

/** A to-many that nothing on the other side answers to. */
function alone({ draft, name, definition }: Pointer, target: Draft): Answer {
  const { through } = definition
  if (typeof through === 'object') return overJunction(target, givenJunction(through, draft, target))
  const here = { draft, attribute: name }
  return overJunction(target, namedJunction(here, unnamedSide(here, target)))
}

const overJunction = (target: Draft, view: JunctionView | string): Answer =>
  typeof view === 'string' ? view : { kind: 'manyToMany', target, ...view }

/** A to-many that names what points back: a foreign key, or a to-many with which it shares the junction. */
function facing(pointer: Pointer, target: Draft, via: string, drafts: Drafts): Answer {
  const { draft, name, definition } = pointer
  const other = target.attributes.get(via)
  const place = `"${target.name}.${via}"`
  if (!other) return `\`via\` names ${place}, which is not there`
  if (other.isBroken) return undefined
  if (!isAssociation(other)) return `\`via\` names ${place}, which is no association`
  if (target === draft && via === name) {
    return '`via` names the attribute itself: what holds in both directions is two attributes that name each other'
  }
  if (!pointsTo(other, draft)) return `\`via\` names ${place}, which points to "${targetName(other)}" and not back here`
  if (other.model !== undefined) {
    if (definition.through) return `\`through\` is for many-to-many, and ${place} points to one`
    return { kind: 'hasMany', target, via }
  }
  if (typeof other.through === 'string') {
    if (definition.through) return `\`through\` differs from that of ${place}`
    return mirrored(resolve({ draft: target, name: via, definition: other }, drafts), draft, target)
  }
  if (other.via !== name) return `\`via\` names ${place}, whose own \`via\` does not name "${name}"`
  return sharing(pointer, target, other, via)
}

function sharing({ draft, name, definition }: Pointer, target: Draft, other: DraftAttribute, via: string): Answer {
  const own = typeof definition.through === 'object' ? definition.through : undefined
  const theirs = typeof other.through === 'object' ? mirroredTable(other.through) : undefined
  if (own && theirs && !isSameTable(own, theirs)) {
    return `\`through\` differs from that of "${target.name}.${via}": the table must be the same, \`from\` there is \`to\` here`
  }
  const table = own ?? theirs
  return overJunction(
    target,
    table
      ? givenJunction(table, draft, target)
      : namedJunction({ draft, attribute: name }, { draft: target, attribute: via }),
  )
}

/** What the other side says, from here. What is wrong with it is reported there. */
function mirrored(plan: Answer, draft: Draft, target: Draft): Answer {
  if (typeof plan !== 'object' || plan.kind !== 'through' || plan.target !== draft) return undefined
  return { ...plan, target, near: plan.far, far: plan.near }
}

function throughModel({ draft, definition }: Pointer, target: Draft, name: string, drafts: Drafts): Answer {
  const { via } = definition
  const through = drafts.get(folded(name))
  if (!through) return `${noModel(name)} to go through`
  if (via === undefined) return `\`through: "${name}"\` needs \`via\`: the attribute there that points here`
  const near = through.attributes.get(via)
  const place = `"${through.name}.${via}"`
  if (!near) return `\`via\` names ${place}, which is not there`
  if (near.isBroken) return undefined
  if (near.model === undefined || !pointsTo(near, draft))
    return `\`via\` names ${place}, which does not point back here`

  const candidates = [...through.attributes].filter(
    ([attribute, { model }]) => attribute !== via && model !== undefined && folded(model) === folded(target.name),
  )
  const [far] = candidates.map(([attribute]) => attribute)
  if (far === undefined) return `"${through.name}" has no attribute that points to one ${target.name}`
  if (candidates.length > 1) {
    const names = candidates.map(([attribute]) => `"${attribute}"`).join(', ')
    return `"${through.name}" has several attributes that point to one ${target.name}: ${names}`
  }
  return { kind: 'through', target, through, near: via, far }
}

/** Enters the junction of a plan, unless its table is taken by something else. */
function collision(plan: Plan, junctions: Map<string, Junction>, drafts: Drafts): string | undefined {
  if (plan.kind !== 'manyToMany') return undefined
  const { junction } = plan
  const table = folded(junction.table)
  for (const draft of drafts.values()) {
    if (folded(draft.table) === table)
      return `its junction is the table "${junction.table}", which the model "${draft.name}" has`
    if (folded(draft.name) === table) return `its junction has the name of the model "${draft.name}"`
  }
  const other = junctions.get(table)
  if (other && !isSameJunction(other, junction)) {
    return `its junction is the table "${junction.table}", which another association uses for something else`
  }
  if (!other) junctions.set(table, junction)
  return undefined
}
