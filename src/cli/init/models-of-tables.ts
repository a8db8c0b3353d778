import { defineModels } from '../../model/define.ts'
import type { ModelDefinition, ModelDefinitions } from '../../model/definition.ts'
import type { Models } from '../../model/model.ts'
import { folded } from '../../model/names.ts'
import type { DatabaseDescription } from '../../storage/database-description.ts'
import type { SchemaStep } from '../../storage/schema-step.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'
import { CommandError } from '../command.ts'
import { missingKeyReason } from './key-of-table.ts'
import { leftOutByName } from './left-out-tables.ts'
import { type PlannedModel, planModels, type Refusals } from './plan-models.ts'
import { addJunctions, addOtherSides, type PlannedJunction } from './to-many.ts'

/** Attributes of every model that existing tables have no columns for. */
export const withoutTimes = { createdAt: false, updatedAt: false } as const

/** The models of a database, which a start with `migrate: 'safe'` accepts. */
export interface DatabasePlan {
  readonly models: readonly PlannedModel[]
  readonly junctions: readonly PlannedJunction[]
  /** Tables and views without a model, with the reason. */
  readonly leftOut: ReadonlyMap<string, string>
  /** What a start with `migrate: 'add'` adds. */
  readonly steps: readonly SchemaStep[]
}

/**
 * Writes models for the tables, and leaves out what the check of a start would refuse until it refuses nothing: first an
 * association, then the attribute, then the table. `chosen` are the tables to serve; default all.
 */
export function modelsOfTables(description: DatabaseDescription, chosen?: readonly string[]): DatabasePlan {
  const considered = [...description.tables.values()].filter(({ name }) => chosen?.includes(name) ?? true)
  const first = new Map(considered.toReversed().map(({ name }) => [folded(name), name]))
  const named = new Map(
    considered.map(({ name }) => {
      const other = first.get(folded(name)) as string
      const reason = other === name ? undefined : `its name differs from "${other}" in letter case only`
      return [name, reason ?? leftOutByName(name, chosen !== undefined)]
    }),
  )
  const tables = considered.filter(({ name }) => named.get(name) === undefined)
  const refusals: Refusals = { tables: new Map(), columns: new Map(), links: new Map() }
  for (;;) {
    const models = planModels(tables, description, refusals)
    addOtherSides(models)
    const junctions = addJunctions(tables, models, refusals)
    const served = new Set([...models.map(({ table }) => table.name), ...junctions.map(({ table }) => table)])
    const unserved = tables.filter(({ name }) => !served.has(name))
    const leftOut = new Map([
      ...unserved.map(
        (table) => [table.name, refusals.tables.get(table.name) ?? missingKeyReason(table, description)] as const,
      ),
      ...[...description.leftOut].filter(([name]) => chosen?.includes(name) ?? true),
      ...[...named].flatMap(([name, reason]) => (reason === undefined ? [] : [[name, reason] as const])),
    ])
    if (models.length === 0) throw new CommandError(nothingToServe(leftOut))
    const defined = defineModels(definitionsOf(models), withoutTimes)
    if (!addRefusals(defined, models, description, refusals))
      return { models, junctions, leftOut, steps: description.stepsOf([...defined.values()]) }
  }
}

/** Adds what a start would refuse to `refusals`. Returns whether it would refuse anything. */
function addRefusals(
  defined: Models,
  planned: readonly PlannedModel[],
  description: DatabaseDescription,
  refusals: Refusals,
): boolean {
  let found = false
  for (const model of defined.values()) {
    const plan = planned.find(({ name }) => name === model.name)
    for (const problem of description.problemsOf(model)) {
      found = true
      const attribute = [...model.attributes.values()].find(({ name }) => problem.startsWith(`${model.name}.${name}: `))
      const reason = problem.slice(problem.indexOf(': ') + 2)
      if (!plan || !attribute || attribute.isPrimaryKey) refusals.tables.set(model.table, reason)
      else if (attribute.references)
        getOrInsertComputed(refusals.links, model.table, () => new Set()).add(attribute.column)
      else getOrInsertComputed(refusals.columns, model.table, () => new Map()).set(attribute.column, reason)
    }
  }
  return found
}

export const definitionsOf = (models: readonly PlannedModel[]): ModelDefinitions =>
  Object.fromEntries(models.map((model) => [model.name, definitionOf(model)]))

const definitionOf = ({ name, table, attributes, indexes }: PlannedModel): ModelDefinition => ({
  ...(table.name !== name && { tableName: table.name }),
  attributes: Object.fromEntries([...attributes].map(([name, { definition }]) => [name, definition])),
  ...(indexes.length > 0 && { indexes }),
})

const nothingToServe = (leftOut: ReadonlyMap<string, string>): string =>
  [
    'The database has no table that a model can describe',
    ...[...leftOut].map(([name, reason]) => `  ${name}: ${reason}`),
  ].join('\n')
