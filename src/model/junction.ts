import type { JunctionTable } from './definition.ts'
import type { Draft } from './draft.ts'
import { databaseNameProblem, folded, tableNameProblem } from './names.ts'

/** The table of a many-to-many association that is not declared as a model. */
export interface Junction {
  readonly table: string
  /** In the order of the key, which is the same for both sides. */
  readonly columns: readonly [JunctionColumn, JunctionColumn]
}

export interface JunctionColumn {
  readonly name: string
  /** The model whose key it contains. */
  readonly target: Draft
}

/** A junction from one side: `near` refers to this model, `far` to the target. */
export interface JunctionView {
  readonly junction: Junction
  readonly near: string
  readonly far: string
}

interface Side {
  readonly draft: Draft
  readonly attribute: string
}

/**
 * The junction of two attributes that name each other, with the names of Waterline, so that existing databases can be
 * used: `user.groups` and `group.members` share `group_members__user_groups`, whose column `user_groups` contains the user.
 */
export const namedJunction = (here: Side, there: Side): JunctionView | string => {
  const [first, second] = [here, there].sort(byName) as [Side, Side]
  const junction: Junction = {
    table: `${columnOf(first)}__${columnOf(second)}`,
    columns: [
      { name: columnOf(first), target: first.draft },
      { name: columnOf(second), target: second.draft },
    ],
  }
  return checked({ junction, near: columnOf(here), far: columnOf(there) })
}

/** The other side of a to-many without `via`, with the name of Waterline: `pet.likes_pet` for `user.likes`. */
export const unnamedSide = (here: Side, target: Draft): Side => ({
  draft: target,
  attribute: `${here.attribute}_${folded(target.name)}`,
})

const columnOf = ({ draft, attribute }: Side): string => `${folded(draft.name)}_${attribute}`

const byName = (a: Side, b: Side): number =>
  compare(folded(a.draft.name), folded(b.draft.name)) || compare(a.attribute, b.attribute)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** An existing table. */
export function givenJunction(
  { tableName, from, to }: JunctionTable,
  here: Draft,
  target: Draft,
): JunctionView | string {
  const columns = [
    { name: from, target: here },
    { name: to, target },
  ].sort((a, b) => compare(a.name, b.name)) as [JunctionColumn, JunctionColumn]
  return checked({ junction: { table: tableName, columns }, near: from, far: to })
}

function checked(view: JunctionView): JunctionView | string {
  const { table } = view.junction
  if (folded(view.near) === folded(view.far)) return `both columns of the table "${table}" are named "${view.near}"`
  for (const name of [table, view.near, view.far]) {
    const problem = name === table ? tableNameProblem(name) : databaseNameProblem(name)
    if (problem) return `${JSON.stringify(name)}: ${problem}`
  }
  return view
}

/** The table from the other side. */
export const mirroredTable = ({ tableName, from, to }: JunctionTable): JunctionTable => ({
  tableName,
  from: to,
  to: from,
})

export const isSameTable = (a: JunctionTable, b: JunctionTable): boolean =>
  a.tableName === b.tableName && a.from === b.from && a.to === b.to

export const isSameJunction = (a: Junction, b: Junction): boolean =>
  a.table === b.table &&
  a.columns.every(({ name, target }, index) => b.columns[index]?.name === name && b.columns[index]?.target === target)
