import type { ExistingColumn, ExistingTable } from '../../storage/schema.ts'
import { camelCase, capitalized, plural, withoutKeySuffix, wordsOf } from './names.ts'
import { type Candidates, linkOf, type PlannedModel, type Refusals } from './plan-models.ts'

/** Adds the other side of each to-one association. */
export function addOtherSides(models: readonly PlannedModel[]): void {
  const byName = new Map(models.map((model) => [model.name, model]))
  for (const { name, links } of models) {
    for (const { attribute, target } of links) {
      const other = byName.get(target) as PlannedModel
      const isOnly = links.filter((link) => link.target === target).length === 1
      const specific = `${plural(name)}By${capitalized(attribute)}`
      const wanted = name === target ? (attribute === 'parent' ? ['children'] : []) : isOnly ? [plural(name)] : []
      other.attributes.set(other.names.take(...wanted, specific), { definition: { collection: name, via: attribute } })
    }
  }
}

/** A table of pairs as an association of two models. */
export interface PlannedJunction {
  readonly table: string
  /** The attributes that contain the other model, as `track.playlists`. */
  readonly places: readonly string[]
  /** Columns that are not served. */
  readonly unserved: readonly string[]
}

interface Side {
  readonly column: ExistingColumn
  readonly model: PlannedModel
}

/** Adds the associations whose pairs are the rows of tables without a model. */
export function addJunctions(
  tables: readonly ExistingTable[],
  models: readonly PlannedModel[],
  refusals: Refusals,
): readonly PlannedJunction[] {
  const modelled = new Set(models.map(({ table }) => table))
  return tables.flatMap((table) => {
    const sides = modelled.has(table) || refusals.tables.has(table.name) ? undefined : sidesOf(table, models)
    return sides ? [addJunction(table, sides)] : []
  })
}

/** The two foreign keys of a table of pairs, if every pair is there once and a row needs nothing else. */
function sidesOf(table: ExistingTable, models: readonly PlannedModel[]): readonly [Side, Side] | undefined {
  const candidates: Candidates = new Map(models.map(({ table, name, key }) => [table.name, { name, key }]))
  const sides = [...table.columns.values()].flatMap((column) => {
    const link = column.isComputed ? undefined : linkOf(table, column, candidates)
    const model = models.find(({ name }) => name === link?.model)
    return model ? [{ column, model }] : []
  })
  const [first, second] = sides.filter(({ column }) => table.uniques.some((unique) => unique.includes(column.name)))
  if (!first || !second || !table.isTable || !table.canBeUnique) return undefined
  const pair = [first.column.name, second.column.name]
  const isPair = table.uniques.some((unique) => unique.length === 2 && unique.every((column) => pair.includes(column)))
  const isComplete = [...table.columns.values()].every(({ name, mustBeGiven }) => !mustBeGiven || pair.includes(name))
  return isPair && isComplete ? [first, second] : undefined
}

function addJunction(table: ExistingTable, [a, b]: readonly [Side, Side]): PlannedJunction {
  const nameIn = ({ model }: Side, { column, model: target }: Side) => {
    const key = camelCase(wordsOf(target.key.column.name))
    const named = withoutKeySuffix(camelCase(wordsOf(column.name)), key)
    // The columns of Prisma are `A` and `B`.
    const name = plural(named.length < 2 ? target.name : named)
    return model.names.take(name, `${name}By${capitalized(camelCase(wordsOf(table.name)))}`)
  }
  const [inA, inB] = [nameIn(a, b), nameIn(b, a)]
  const through = { tableName: table.name, from: a.column.name, to: b.column.name }
  a.model.attributes.set(inA, { definition: { collection: b.model.name, via: inB, through } })
  b.model.attributes.set(inB, { definition: { collection: a.model.name, via: inA } })
  const unserved = [...table.columns.values()].filter((column) => column !== a.column && column !== b.column)
  return {
    table: table.name,
    places: [`${a.model.name}.${inA}`, `${b.model.name}.${inB}`],
    unserved: unserved.map(({ name }) => name),
  }
}
