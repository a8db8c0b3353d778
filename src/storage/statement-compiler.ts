import type { Comparison, Condition, Criteria, Selection } from '../criteria/criteria.ts'
import { isMatchAll, leavesOf } from '../criteria/criteria.ts'
import { FilledCriteria } from '../criteria/criteria-template.ts'
import { equals } from '../criteria/operators/equals.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Association, Attribute, Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import { type Sql, textOf } from '../sql/sql.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import { ObjectCache } from '../support/object-cache.ts'
import type { Access, GroupedLookup, Statement } from './driver.ts'
import { FindTemplates } from './find-templates.ts'
import { SelectLists } from './select-lists.ts'
import { type Columns, relatedKeys, SqlSelects } from './sql-selects.ts'
import { SqlWrites } from './sql-writes.ts'

export interface FindStatement extends Statement {
  /** Undefined for a lookup by key, which has no next page. */
  readonly columns?: Columns | undefined
}

/** One record by its key, which is the only value. */
export interface LookupStatement {
  readonly text: string
  /** Undefined: the key is bound as it is. */
  readonly encode: ((id: Json) => unknown) | undefined
  readonly group: GroupedLookup | undefined
}

/** A skip beyond this walks over too many rows to be bounded by the page. */
const maxIndexedSkip = 1000

/**
 * Compiles criteria to statements, and owns what was compiled. Criteria are immutable, so a cached plan of a
 * request is compiled once.
 */
export class StatementCompiler {
  readonly #dialect: Dialect
  readonly #selects: SqlSelects
  readonly #groupsLookups: (model: Model) => boolean
  readonly writes: SqlWrites
  /** Those that `lookup` has compiled. A selection belongs to one model. */
  readonly lookups = new WeakMap<Selection, LookupStatement>()
  readonly #guardedLookups = new WeakMap<Condition, Map<Selection, Pick<Statement, 'text' | 'values' | 'group'>>>()
  readonly #finds = new ObjectCache<Criteria, FindStatement>()
  readonly #templates: FindTemplates
  readonly #related = new ObjectCache<Criteria, { readonly association: Association; readonly statement: Statement }>()

  /** `groupsLookups`: whether records of the model are found by several keys as fast as by one, and each key by its text. */
  constructor(
    dialect: Dialect,
    hasJsonCheck: (attribute: Attribute) => boolean,
    groupsLookups: (model: Model) => boolean = () => false,
  ) {
    this.#dialect = dialect
    this.#groupsLookups = groupsLookups
    const lists = new SelectLists(dialect, hasJsonCheck)
    this.#selects = new SqlSelects(dialect, lists)
    this.writes = new SqlWrites(dialect, lists)
    this.#templates = new FindTemplates(dialect, (model, criteria) => this.#compile(model, criteria))
  }

  find(model: Model, criteria: Criteria): FindStatement {
    if (criteria instanceof FilledCriteria)
      return this.#templates.bind(model, criteria) ?? this.#compile(model, criteria)
    if (isLookup(criteria)) return this.#lookup(model, criteria)
    const guarded = guardedLookup(criteria)
    if (guarded) return this.#guardedLookup(model, criteria, guarded)
    let statement = this.#finds.get(criteria)
    if (!statement) {
      statement = this.#compile(model, criteria)
      this.#finds.set(criteria, statement)
    }
    return statement
  }

  #compile(model: Model, criteria: Criteria): FindStatement {
    const columns = this.#selects.columns(model, criteria)
    const { where, sort, skip, after } = criteria
    const shape = { model, where, sort }
    const isPage = isMatchAll(where) && after === undefined && skip <= maxIndexedSkip
    return {
      ...this.#rendered(this.#selects.find(model, criteria, columns), isPage ? 'page' : 'filter'),
      columns,
      shape,
    }
  }

  /** `id` is any key of the model: a lookup depends on the selection only. */
  lookup(model: Model, select: Selection, id: Json): LookupStatement {
    return this.lookups.get(select) ?? this.#compileLookup(model, select, id)
  }

  #compileLookup(model: Model, select: Selection, id: Json): LookupStatement {
    const dialect = this.#dialect
    const encode = (key: Json): unknown => dialect.encode(model.primaryKey, key)
    const text = textOf(this.#selects.lookup(model, select, id, false), dialect.placeholder)
    const lookup = { text, encode: encode(id) === id ? undefined : encode, group: this.#groupOf(model, select) }
    this.lookups.set(select, lookup)
    return lookup
  }

  #groupOf(model: Model, select: Selection, rule?: Condition): GroupedLookup | undefined {
    if (!this.#groupsLookups(model)) return undefined
    const { statement, keyAt } = this.#selects.lookups(model, select, rule)
    return { text: textOf(statement, this.#dialect.placeholder), values: statement.values.slice(1), keyAt }
  }

  #lookup(model: Model, { select, where, lock = false }: Lookup): FindStatement {
    const { operand } = where
    const values = [this.#dialect.encode(where.attribute, operand)]
    if (lock) {
      const statement = this.#selects.lookup(model, select, operand, true)
      return { text: textOf(statement, this.#dialect.placeholder), values, access: 'key' }
    }
    const { text, group } = this.lookup(model, select, operand)
    return { text, values, access: 'key', group }
  }

  /** The text and the values of the rule depend on the rule and the selection only. */
  #guardedLookup(model: Model, { select }: Criteria, { rule, key }: GuardedLookup): FindStatement {
    const ofRule = getOrInsertComputed(this.#guardedLookups, rule, () => new Map())
    const { text, values, group } = getOrInsertComputed(ofRule, select, () => {
      const statement = this.#selects.lookup(model, select, key.operand, false, rule)
      const text = textOf(statement, this.#dialect.placeholder)
      return { text, values: statement.values.slice(1), group: this.#groupOf(model, select, rule) }
    })
    return { text, values: [this.#dialect.encode(key.attribute, key.operand), ...values], access: 'key', group }
  }

  count(model: Model, where: Condition): Statement {
    return { ...this.#rendered(this.#selects.count(model, where), 'filter'), shape: { model, where, sort: [] } }
  }

  /** The keys are the only values that do not depend on the criteria. */
  related(association: Association, keys: readonly Json[], criteria: Criteria): Statement {
    const cached = this.#related.get(criteria)
    let statement = cached?.association === association ? cached.statement : undefined
    if (!statement) {
      statement = this.#rendered(this.#selects.related(association, criteria), 'filter')
      this.#related.set(criteria, { association, statement })
    }
    const bound = this.#selects.boundKeys(association, keys)
    return { ...statement, values: statement.values.map((value) => (value === relatedKeys ? bound : value)) }
  }

  /** The number of each condition, with the keys of the records that match it. */
  matching(model: Model, ids: readonly Json[], conditions: readonly Condition[]): Statement {
    return this.#rendered(this.#selects.matching(model, ids, conditions), 'filter')
  }

  /** The number of records that match, at most `limit`, and their bytes. */
  sizeUpTo(model: Model, where: Condition, limit: number): Statement {
    return this.#rendered(this.#selects.sizeUpTo(model, where, limit), 'filter')
  }

  /** The bytes of the largest of the records that match, without the assigned values. */
  largestOf(model: Model, where: Condition, assignments: readonly Assignment[]): Statement {
    return this.#rendered(this.#selects.largestOf(model, where, assignments), 'filter')
  }

  /** At most `limit` keys of the records that match. */
  keys(model: Model, where: Condition, limit: number): Statement {
    return this.#rendered(this.#selects.keys(model, where, limit), 'filter')
  }

  #rendered(statement: Sql, access: Access): Statement {
    return { text: textOf(statement, this.#dialect.placeholder), values: statement.values, access }
  }
}

type Lookup = Criteria & { readonly where: Comparison }

function isLookup(criteria: Criteria): criteria is Lookup {
  const { where, sort, skip, masks } = criteria
  return isKeyComparison(where) && sort.length === 0 && skip === 0 && masks === undefined
}

/** A lookup by key with a rule about the record's own attributes, in the order in which rules are added. */
interface GuardedLookup {
  readonly rule: Condition
  readonly key: Comparison
}

function guardedLookup({ where, sort, skip, masks, lock }: Criteria): GuardedLookup | undefined {
  if (where.kind !== 'and' || where.conditions.length !== 2) return undefined
  const [rule, key] = where.conditions as readonly [Condition, Condition]
  if (!isKeyComparison(key) || sort.length > 0 || skip > 0 || masks || lock || !isOfOneRow(rule)) return undefined
  return { rule, key }
}

/** Whether a condition compares values of the row alone, with a cost that does not depend on their length. */
const isOfOneRow = (condition: Condition): boolean =>
  leavesOf(condition).every((leaf) => leaf.kind === 'compare' && leaf.operator.readsWholeValue !== true)

const isKeyComparison = (where: Condition): where is Comparison =>
  where.kind === 'compare' && where.attribute.isPrimaryKey && where.operator === equals && where.operand !== null
