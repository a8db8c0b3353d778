import type { Criteria, Masks, Selection } from '../criteria/criteria.ts'
import { storedSelection } from '../criteria/stored-selection.ts'
import { columnOf, toSql } from '../criteria/to-sql.ts'
import { type Computation, storedSources } from '../model/computed.ts'
import type { Attribute, Model } from '../model/model.ts'
import { attributeTypeOf } from '../model/types.ts'
import type { Dialect } from '../sql/dialect.ts'
import { raw, type Sql, sql } from '../sql/sql.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'

/*
 * A computed attribute is as visible as it is declared: its value is computed from what is stored, also where the requester
 * sees null in place of a source. A select whose columns are masked therefore reads such a source a second time, as it is,
 * and for a computed attribute with a rule of its own, whether the rule holds for the record.
 */

/** A column of the derived table that is no attribute of the model. */
type Derived = { readonly source: Attribute } | { readonly visible: Attribute }

const derived = new WeakMap<Attribute, Derived>()
const selections = new WeakMap<Selection, Map<string, Selection>>()

/** Adds to the selection the unmasked values that its computed attributes depend on. */
export function withRawSources(criteria: Criteria): Criteria {
  const { masks, select } = criteria
  if (!masks || !select.some((attribute) => isConcerned(attribute, masks))) return criteria
  const names = [...masks.keys()].map(({ name }) => name).join()
  const cached = getOrInsertComputed(selections, select, () => new Map<string, Selection>())
  return { ...criteria, select: getOrInsertComputed(cached, names, () => unmasked(select, masks)) }
}

const isConcerned = (attribute: Attribute, masks: Masks): boolean =>
  attribute.computed !== undefined && [attribute, ...storedSources(attribute)].some((one) => masks.has(one))

function unmasked(select: Selection, masks: Masks): Selection {
  const copies = new Map<Attribute, Attribute>()
  const copyOf = (attribute: Attribute): Attribute =>
    getOrInsertComputed(copies, attribute, () => {
      if (attribute.computed)
        return { ...attribute, computed: { ...attribute.computed, from: attribute.computed.from.map(copyOf) } }
      if (!masks.has(attribute)) return attribute
      const copy = { ...attribute, column: `keelson_raw_${copies.size}` }
      derived.set(copy, { source: attribute })
      return copy
    })
  return select.map((attribute, index) => {
    if (!isConcerned(attribute, masks)) return attribute
    const copy = copyOf(attribute)
    return masks.has(attribute) ? { ...copy, computed: ifVisible(attribute, copy, index) } : copy
  })
}

/** The computation with one more source: whether the requester may see the value of the record. */
function ifVisible(original: Attribute, { computed }: Attribute, index: number): Computation {
  const { from, get, sql } = computed as Computation
  const name = `keelson_visible_${index}`
  const type = attributeTypeOf({ type: 'boolean' }) as Attribute['type']
  const { computed: _, ...stored } = original
  const visible: Attribute = { ...stored, name, column: name, type }
  derived.set(visible, { visible: original })
  return {
    from: [...from, visible],
    get: ({ [name]: isVisible, ...record }) => (isVisible ? get(record) : null),
    sql,
  }
}

/** The additional columns of a derived table with masked columns. */
export function derivedColumns(
  model: Model,
  select: Selection,
  masks: Masks | undefined,
  dialect: Dialect,
): readonly Sql[] {
  if (!masks) return []
  return storedSelection(select).flatMap((attribute) => {
    const content = derived.get(attribute)
    if (!content) return []
    const name = raw(` as ${dialect.identifier(attribute.column)}`)
    if ('source' in content) return [sql`${raw(columnOf(content.source, dialect))}${name}`]
    const mask = masks.get(content.visible)
    return mask ? [sql`(${toSql(mask, model, dialect)}) is true${name}`] : []
  })
}
