import { allAttributes, type Condition, isMatchAll, primaryKeyEquals, type Selection } from '../criteria/criteria.ts'
import { equals } from '../criteria/operators/equals.ts'
import { toSql, valuesAmong } from '../criteria/to-sql.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Attribute, Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import { raw, type Sql, sql, textOf } from '../sql/sql.ts'
import { isBytes } from '../support/is-bytes.ts'
import { Lru } from '../support/lru.ts'
import type { Statement } from './driver.ts'
import type { SelectLists } from './select-lists.ts'

/** Write texts kept for each model; further ones are compiled again. */
const keptShapes = 200

type Kind = 'insert' | 'insert missing' | 'update'

/** A write, and what the rows that it returns hold. */
export interface WriteStatement extends Statement {
  readonly select: Selection
  /** Names the only row that it can change; undefined: there may be others, or it is new. */
  readonly row?: string | undefined
  /** About the length of its values: of the texts and bytes among them. */
  readonly bytes: number
}

/** What depends only on the attributes that get a value. */
interface WriteShape {
  readonly kind: Kind
  readonly attributes: readonly Attribute[]
  readonly text: string
  readonly select: Selection
  /** By the place of an assignment: whether its value is encoded. */
  readonly isEncoded: readonly boolean[]
  readonly isKeyEncoded: boolean
}

/** Those of one model. Most writes have the shape of the one before, which is found without a text of their attributes. */
interface Shapes {
  readonly known: Lru<string, WriteShape>
  latest: WriteShape | undefined
}

/**
 * Compiles values to writes that return the rows. Pure, and common to all SQL databases. The text of an insert and of an
 * update by key depends only on the attributes that get a value, so it is compiled once for them.
 */
export class SqlWrites {
  readonly #dialect: Dialect
  readonly #lists: SelectLists
  readonly #shapes = new WeakMap<Model, Shapes>()

  constructor(dialect: Dialect, lists: SelectLists) {
    this.#dialect = dialect
    this.#lists = lists
  }

  insert(model: Model, assignments: readonly Assignment[], ifMissing: boolean): WriteStatement {
    const { text, select, isEncoded } = this.#shape(model, ifMissing ? 'insert missing' : 'insert', assignments)
    return { text, ...this.#values(assignments, isEncoded), access: 'key', select }
  }

  updateByKey(model: Model, id: Json, assignments: readonly Assignment[]): WriteStatement {
    const { text, select, isEncoded, isKeyEncoded } = this.#shape(model, 'update', assignments, id)
    const { values, bytes } = this.#values(assignments, isEncoded)
    values.push(isKeyEncoded ? this.#dialect.encode(model.primaryKey, id) : id)
    return { text, values, access: 'key', select, bytes, row: `${model.table} ${id}` }
  }

  update(model: Model, where: Condition, assignments: readonly Assignment[]): WriteStatement {
    const isEncoded = assignments.map(({ attribute }) => this.#encodes(attribute))
    const { values, bytes } = this.#values(assignments, isEncoded)
    const sets = { parts: this.#updateParts(model, assignments), values }
    const statement = this.#rendered(
      model,
      sql`${sets}${this.#whereOf(model, where)}${raw(this.#returning(model))}`,
      where,
    )
    return { ...statement, bytes }
  }

  delete(model: Model, where: Condition): WriteStatement {
    const head = raw(`delete from ${this.#quote(model.table)}`)
    return this.#rendered(model, sql`${head}${this.#whereOf(model, where)}${raw(this.#returning(model))}`, where)
  }

  /** `id` is any key of the model. */
  #shape(model: Model, kind: Kind, assignments: readonly Assignment[], id: Json = null): WriteShape {
    let shapes = this.#shapes.get(model)
    if (!shapes) {
      shapes = { known: new Lru(keptShapes), latest: undefined }
      this.#shapes.set(model, shapes)
    }
    const { latest } = shapes
    let isLatest = latest?.kind === kind && latest.attributes.length === assignments.length
    for (let index = 0; isLatest && index < assignments.length; index++)
      isLatest = latest?.attributes[index] === assignments[index]?.attribute
    if (latest && isLatest) return latest
    let key: string = kind
    for (const { attribute } of assignments) key += `,${attribute.name}`
    const known = shapes.known.get(key)
    if (known) {
      shapes.latest = known
      return known
    }
    const { text, select } =
      kind === 'update'
        ? this.update(model, primaryKeyEquals(model, id), assignments)
        : this.#rendered(model, { parts: this.#insertParts(model, assignments, kind), values: [] })
    const isEncoded = assignments.map(({ attribute }) => this.#encodes(attribute))
    const attributes = assignments.map(({ attribute }) => attribute)
    const shape = { kind, attributes, text, select, isEncoded, isKeyEncoded: this.#encodes(model.primaryKey) }
    shapes.known.set(key, shape)
    shapes.latest = shape
    return shape
  }

  #insertParts(model: Model, assignments: readonly Assignment[], kind: Kind): readonly string[] {
    const head = `insert into ${this.#quote(model.table)}`
    const tail = `${kind === 'insert missing' ? this.#dialect.ifMissing : ''}${this.#returning(model)}`
    if (assignments.length === 0) return [`${head} ${this.#dialect.insertDefaults(model)}${tail}`]
    const columns = assignments.map(({ attribute }) => this.#quote(attribute.column)).join(', ')
    return [`${head} (${columns}) values (`, ...assignments.slice(1).map(() => ', '), `)${tail}`]
  }

  #updateParts(model: Model, assignments: readonly Assignment[]): readonly string[] {
    const head = `update ${this.#quote(model.table)} set `
    const columns = assignments.map(({ attribute }) => this.#quote(attribute.column))
    if (columns.length === 0) {
      // It still returns the row and fires its triggers. The key is often one that a database lets nothing write.
      const own = [...model.attributes.values()].find(
        (attribute) => !attribute.isPrimaryKey && !attribute.computed && !attribute.stored.isComputed,
      )
      const column = this.#quote((own ?? model.primaryKey).column)
      return [`${head}${column} = ${column}`]
    }
    return [`${head}${columns[0]} = `, ...columns.slice(1).map((column) => `, ${column} = `), '']
  }

  /** The row, and after it the operation where a statement can tell it. */
  #returning(model: Model): string {
    const { operation } = this.#dialect
    return ` returning ${this.#lists.of(allAttributes(model))}${operation === undefined ? '' : `, ${operation}`}`
  }

  #encodes(attribute: Attribute): boolean {
    return !this.#dialect.boundAsIs.has(attribute.type.storedAs) || this.#dialect.writesDate?.(attribute) === true
  }

  #encode(attribute: Attribute, value: Json): unknown {
    return this.#dialect.writesDate?.(attribute) ? String(value).slice(0, 10) : this.#dialect.encode(attribute, value)
  }

  #values(
    assignments: readonly Assignment[],
    isEncoded: readonly boolean[],
  ): { readonly values: unknown[]; readonly bytes: number } {
    const values: unknown[] = []
    let bytes = 0
    for (let index = 0; index < assignments.length; index++) {
      const { attribute, value } = assignments[index] as Assignment
      const bound = value !== null && isEncoded[index] ? this.#encode(attribute, value) : value
      if (typeof bound === 'string' || isBytes(bound)) bytes += bound.length
      values.push(bound)
    }
    return { values, bytes }
  }

  #whereOf(model: Model, condition: Condition): Sql {
    const among = valuesAmong(model, condition, this.#dialect)
    return isMatchAll(condition) ? raw('') : sql` where ${toSql(condition, model, this.#dialect, among)}`
  }

  #quote(name: string): string {
    return this.#dialect.identifier(name)
  }

  #rendered(model: Model, statement: Sql, where?: Condition): WriteStatement {
    const text = textOf(statement, this.#dialect.placeholder)
    // The key of the only record that can match.
    let row: string | undefined
    if (where !== undefined)
      for (const part of where.kind === 'and' ? where.conditions : [where])
        if (part.kind === 'compare' && part.attribute.isPrimaryKey && part.operator === equals)
          row = `${model.table} ${part.operand}`
    return { text, values: statement.values, access: 'key', select: allAttributes(model), bytes: 0, row }
  }
}
