import type { AttributeDefinition, IndexDefinition } from '../../model/definition.ts'
import { databaseNameProblem, folded } from '../../model/names.ts'
import type { DatabaseDescription } from '../../storage/database-description.ts'
import type { ExistingColumn, ExistingForeignKey, ExistingTable } from '../../storage/schema.ts'
import {
  canBeIndexed,
  columnAttribute,
  columnNameOf,
  isUnique,
  type PlannedAttribute,
  unusedDefault,
  withColumn,
} from './column-attribute.ts'
import { type KeyOfTable, keyOf } from './key-of-table.ts'
import { attributeNames, camelCase, modelNames, type Names, singularName, withoutKeySuffix, wordsOf } from './names.ts'

/** A model as it is written to the file. */
export interface PlannedModel {
  readonly name: string
  readonly table: ExistingTable
  readonly key: KeyOfTable
  readonly attributes: Map<string, PlannedAttribute>
  readonly links: PlannedLink[]
  readonly indexes: readonly IndexDefinition[]
  /** Comments above its attributes: what a start or a client should not expect. */
  readonly notes: readonly string[]
  readonly names: Names
}

/** A foreign key of one column that is an association. */
export interface PlannedLink {
  readonly attribute: string
  readonly target: string
}

/** What an earlier plan contained and a start would refuse, with the reason. */
export interface Refusals {
  readonly tables: Map<string, string>
  /** By table, the columns without an attribute. */
  readonly columns: Map<string, Map<string, string>>
  /** By table, the columns of foreign keys that are no associations. */
  readonly links: Map<string, Set<string>>
}

/** By table, the name and the key of its model. */
export type Candidates = ReadonlyMap<string, { readonly name: string; readonly key: KeyOfTable }>

/** The models of the tables that have a key of one column, with their to-one associations. */
export function planModels(
  tables: readonly ExistingTable[],
  description: DatabaseDescription,
  refusals: Refusals,
): readonly PlannedModel[] {
  const names = modelNames()
  const ownNames = new Map(tables.map(({ name }) => [name, camelCase(wordsOf(name)) || 'record']))
  const candidates = new Map(
    tables.flatMap((table) => {
      const key = refusals.tables.has(table.name) ? undefined : keyOf(table, description)
      if (!key) return []
      const own = ownNames.get(table.name) as string
      const singular = singularName(table.name)
      // `people` beside a table `person`
      const isTaken = singular === '' || (singular !== own && [...ownNames.values()].includes(singular))
      return [[table.name, { name: names.take(isTaken ? own : singular, own), key }]]
    }),
  )
  return tables.flatMap((table) => {
    const candidate = candidates.get(table.name)
    return candidate ? [planModel(table, candidate, candidates, description, refusals)] : []
  })
}

function planModel(
  table: ExistingTable,
  { name, key }: { readonly name: string; readonly key: KeyOfTable },
  candidates: Candidates,
  description: DatabaseDescription,
  refusals: Refusals,
): PlannedModel {
  const notes: string[] = []
  const bases = new Map<ExistingColumn, AttributeDefinition>()
  for (const column of table.columns.values()) {
    const base = description.attributeFor(column)
    const reason =
      refusals.columns.get(table.name)?.get(column.name) ??
      (column === key.column ? undefined : description.unservedReason(column)) ??
      nameProblem(column, table) ??
      (base ? undefined : `no attribute holds its type ${column.type}`)
    if (base && reason === undefined) bases.set(column, base)
    else notes.push(`Without the column "${column.name}": ${reason}`)
  }
  const targets = new Map(
    [...bases.keys()].flatMap((column) => {
      const isRefused = column === key.column || column.isComputed || refusals.links.get(table.name)?.has(column.name)
      const link = isRefused ? undefined : linkOf(table, column, candidates)
      return link ? [[column, link] as const] : []
    }),
  )
  notes.push(...unusedLinks(table, [...targets.keys()], key, candidates))

  const names = attributeNames()
  const nameOf = nameColumns(name, table, key, [...bases.keys()], targets, names)
  const links: PlannedLink[] = []
  const attributes = new Map<string, PlannedAttribute>()
  for (const [column, base] of bases) {
    const attribute = nameOf.get(column) as string
    const link = targets.get(column)
    if (column === key.column)
      attributes.set(attribute, {
        definition: keyDefinition(attribute, key),
        note: keyNote(table, key),
        hint: key.hint,
      })
    else if (link) {
      attributes.set(attribute, {
        definition: toOne(attribute, column, base, table, link),
        note: unusedDefault(column),
      })
      links.push({ attribute, target: link.model })
    } else attributes.set(attribute, columnAttribute(base, attribute, column, table))
  }
  const indexes = indexesOf(table, key, bases, nameOf)
  return { name, table, key, attributes, links, indexes, notes, names }
}

const keyDefinition = (name: string, { definition, column }: KeyOfTable): AttributeDefinition =>
  withColumn(name === 'id' ? definition : { primaryKey: true, ...definition }, name, column.name)

function keyNote({ key, canBeUnique }: ExistingTable, { column, definition }: KeyOfTable): string | undefined {
  if (key.length === 1 && key[0] === column.name)
    return definition.required ? unusedDefault({ ...column, nullable: false }) : undefined
  const unique = canBeUnique ? 'Its values are unique' : 'Its values are taken to be unique'
  return `${unique}; the primary key of the table ${key.length === 0 ? 'is missing' : `is ${key.join(', ')}`}`
}

/** PostgreSQL has columns that differ in letter case only. */
function nameProblem({ name }: ExistingColumn, { columns }: ExistingTable): string | undefined {
  const first = [...columns.keys()].find((other) => folded(other) === folded(name))
  const problem = databaseNameProblem(name)
  return first !== name ? `its name differs from "${first}" in letter case only` : problem && `its name ${problem}`
}

/** The names of attributes: the key, then plain columns, so that an association does not take the name of one. */
function nameColumns(
  model: string,
  table: ExistingTable,
  key: KeyOfTable,
  columns: readonly ExistingColumn[],
  targets: ReadonlyMap<ExistingColumn, Link>,
  names: Names,
): ReadonlyMap<ExistingColumn, string> {
  const natural = (column: ExistingColumn) => camelCase(wordsOf(column.name)) || 'column'
  const others = columns.filter((column) => column !== key.column)
  const hasId = others.some((column) => natural(column) === 'id')
  const ids = ['id', `${model}Id`, `${camelCase(wordsOf(table.name))}Id`]
  const keyName = natural(key.column)
  return new Map([
    [key.column, names.take(!hasId && ids.includes(keyName) ? 'id' : keyName)],
    ...others.filter((column) => !targets.has(column)).map((column) => [column, names.take(natural(column))] as const),
    ...others
      .filter((column) => targets.has(column))
      .map(
        (column) =>
          [
            column,
            names.take(withoutKeySuffix(natural(column), targets.get(column)?.key ?? ''), natural(column)),
          ] as const,
      ),
  ])
}

interface Link {
  readonly model: string
  /** The name of its key in the database, in the style of attributes. */
  readonly key: string
  readonly foreignKey: ExistingForeignKey
}

/** The foreign key of this column alone, if it refers to the key of a model. */
export function linkOf(table: ExistingTable, { name }: ExistingColumn, candidates: Candidates): Link | undefined {
  for (const foreignKey of table.foreignKeys) {
    const { columns, table: targetTable, targets } = foreignKey
    if (columns.length !== 1 || columns[0] !== name) continue
    const target = candidates.get(targetTable)
    // SQLite accepts another letter case.
    const [column = target?.key.primary] = targets
    if (target && column !== undefined && folded(column) === folded(target.key.column.name))
      return { model: target.name, key: camelCase(wordsOf(target.key.column.name)), foreignKey }
  }
  return undefined
}

/** The foreign keys that are no associations, with the reason. */
function unusedLinks(
  { foreignKeys, columns: existing }: ExistingTable,
  linked: readonly ExistingColumn[],
  key: KeyOfTable,
  candidates: Candidates,
): readonly string[] {
  const unused = foreignKeys.filter(
    ({ columns }) => columns.length > 1 || !linked.some(({ name }) => name === columns[0]),
  )
  const reasonOf = ({ columns: [column, ...more], table, targets: [target] }: ExistingForeignKey): string => {
    const targetKey = candidates.get(table)?.key
    if (more.length > 0) return 'it has several columns'
    if (column === key.column.name) return 'it is the key'
    if (existing.get(column as string)?.isComputed) return 'the database computes it'
    if (!targetKey) return `"${table}" has no model`
    const isKey = (target ?? targetKey.primary) === targetKey.column.name
    return isKey ? `its type differs from that of the key` : `"${target}" is not the key of the model`
  }
  return unused.map((foreignKey) => {
    const from = foreignKey.columns.map((column) => `"${column}"`).join(', ')
    return `The foreign key ${from} to "${foreignKey.table}" is not an association: ${reasonOf(foreignKey)}`
  })
}

function toOne(
  name: string,
  column: ExistingColumn,
  base: AttributeDefinition,
  table: ExistingTable,
  { model, foreignKey: { cascades, restricts } }: Link,
): AttributeDefinition {
  return {
    model,
    ...columnNameOf(name, column.name),
    ...(!column.nullable && { required: true }),
    ...(isUnique(base, column, table) && { unique: true }),
    ...(cascades ? { onDestroy: 'cascade' } : restricts && column.nullable && { onDestroy: 'restrict' }),
  }
}

/** Unique indexes of several columns, so that an error names their attributes. */
function indexesOf(
  { uniques }: ExistingTable,
  key: KeyOfTable,
  bases: ReadonlyMap<ExistingColumn, AttributeDefinition>,
  nameOf: ReadonlyMap<ExistingColumn, string>,
): readonly IndexDefinition[] {
  const byColumn = new Map([...bases].map(([column, base]) => [column.name, { base, name: nameOf.get(column) }]))
  const distinct = new Map(uniques.map((columns) => [columns.join('\0'), columns]))
  return [...distinct.values()].flatMap((columns) => {
    const attributes = columns.flatMap((column) => {
      const { base, name } = byColumn.get(column) ?? {}
      return name !== undefined && base && canBeIndexed(base) ? [name] : []
    })
    const isServed = columns.length > 1 && attributes.length === columns.length && !columns.includes(key.column.name)
    return isServed ? [{ attributes, unique: true }] : []
  })
}
