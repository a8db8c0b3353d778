import type { Comparison, Condition, Criteria } from '../criteria/criteria.ts'
import type { FilledCriteria } from '../criteria/criteria-template.ts'
import { columnOf, Slot } from '../criteria/to-sql.ts'
import type { Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import type { Sql } from '../sql/sql.ts'
import type { FindStatement } from './statement-compiler.ts'

/** A comparison of a template as it was compiled. */
interface CompiledComparison {
  readonly comparison: Comparison
  readonly column: string
  readonly parts: readonly string[]
}

interface Compiled {
  readonly statement: FindStatement
  /** By slot. */
  readonly places: readonly CompiledComparison[]
}

/**
 * The statements of criteria that were filled from a template. An operator may spell its SQL by the value, so each
 * comparison is compiled with its new one: where the texts are those of the template, the statement is its.
 */
export class FindTemplates {
  readonly #dialect: Dialect
  readonly #compile: (model: Model, criteria: Criteria) => FindStatement
  readonly #compiled = new WeakMap<Criteria, Compiled>()

  constructor(dialect: Dialect, compile: (model: Model, criteria: Criteria) => FindStatement) {
    this.#dialect = dialect
    this.#compile = compile
  }

  /** The statement of the template with these operands; undefined if they need another statement. */
  bind(model: Model, { template, operands }: FilledCriteria): FindStatement | undefined {
    let compiled = this.#compiled.get(template)
    if (!compiled) {
      compiled = {
        statement: this.#compile(model, template),
        places: compiledComparisons(template.where, this.#dialect),
      }
      this.#compiled.set(template, compiled)
    }
    const { statement, places } = compiled
    const { text, access, columns, shape } = statement
    const comparisons: Sql[] = []
    for (let slot = 0; slot < places.length; slot++) {
      const { comparison, column, parts } = places[slot] as CompiledComparison
      const { operator, attribute } = comparison
      const compared = operator.sql(column, operands[slot] as Json, attribute, this.#dialect)
      if (!areEqual(compared.parts, parts)) return undefined
      comparisons.push(compared)
    }
    const values: unknown[] = []
    for (const value of statement.values)
      values.push(value instanceof Slot ? comparisons[value.comparison]?.values[value.value] : value)
    return { text, values, access, columns, shape } as FindStatement
  }
}

function compiledComparisons(where: Condition, dialect: Dialect): readonly CompiledComparison[] {
  const places: CompiledComparison[] = []
  const add = (condition: Condition): void => {
    switch (condition.kind) {
      case 'and':
      case 'or':
        condition.conditions.forEach(add)
        return
      case 'not':
      case 'related':
        add(condition.condition)
        return
      case 'compare': {
        const { attribute, operator, operand, slot } = condition
        if (slot === undefined) return
        const column = columnOf(attribute, dialect)
        places[slot] = { comparison: condition, column, parts: operator.sql(column, operand, attribute, dialect).parts }
      }
    }
  }
  add(where)
  return places
}

function areEqual(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}
