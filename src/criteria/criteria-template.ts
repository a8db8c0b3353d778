import type { Json } from '../protocol/json.ts'
import type { Comparison, Condition, Criteria, Masks, Selection, Sort } from './criteria.ts'

/** Criteria that requests of one shape share: each comparison has a `slot`, the index of its operand among those of a request. */
export interface CriteriaTemplate {
  readonly criteria: Criteria
  /** By slot, in the order in which they are parsed. Their operands are those of the request that the template was made from. */
  readonly comparisons: readonly Comparison[]
}

export function templateOf(criteria: Criteria): CriteriaTemplate {
  const comparisons: Comparison[] = []
  const numbered = (condition: Condition): Condition => {
    switch (condition.kind) {
      case 'and':
      case 'or':
        return { ...condition, conditions: condition.conditions.map(numbered) }
      case 'not':
      case 'related':
        return { ...condition, condition: numbered(condition.condition) }
      case 'compare': {
        const comparison = { ...condition, slot: comparisons.length }
        comparisons.push(comparison)
        return comparison
      }
    }
  }
  return { criteria: { ...criteria, where: numbered(criteria.where) }, comparisons }
}

/**
 * A template with the operands of a request: complete criteria, whose compiled statement is cached by `template`. A copy that is
 * made by spreading, perhaps with another condition, has no template: it is a getter of the class.
 */
export class FilledCriteria implements Criteria {
  readonly where: Condition
  readonly sort: readonly Sort[]
  readonly limit: number
  readonly skip: number
  readonly select: Selection
  readonly after: readonly unknown[] | undefined
  declare readonly masks?: Masks
  readonly #template: Criteria
  readonly #operands: readonly Json[]

  constructor(template: Criteria, operands: readonly Json[]) {
    this.where = filled(template.where, operands)
    this.sort = template.sort
    this.limit = template.limit
    this.skip = template.skip
    this.select = template.select
    this.after = template.after
    if (template.masks) this.masks = template.masks
    this.#template = template
    this.#operands = operands
  }

  get template(): Criteria {
    return this.#template
  }

  get operands(): readonly Json[] {
    return this.#operands
  }
}

/** Parts without a slot, such as those of rules, stay the same objects. */
function filled(condition: Condition, operands: readonly Json[]): Condition {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const { kind, conditions } = condition
      const parts: Condition[] = []
      let isSame = true
      for (const part of conditions) {
        const other = filled(part, operands)
        if (other !== part) isSame = false
        parts.push(other)
      }
      return isSame ? condition : { kind, conditions: parts }
    }
    case 'not': {
      const inner = filled(condition.condition, operands)
      return inner === condition.condition ? condition : { kind: 'not', condition: inner }
    }
    case 'related': {
      const inner = filled(condition.condition, operands)
      const { association } = condition
      return inner === condition.condition ? condition : { kind: 'related', association, condition: inner }
    }
    case 'compare': {
      const { attribute, operator, slot } = condition
      return slot === undefined ? condition : { kind: 'compare', attribute, operator, operand: operands[slot] as Json }
    }
  }
}
