import type { Selection } from '../criteria/criteria.ts'
import { storedSelection } from '../criteria/stored-selection.ts'
import type { Attribute } from '../model/model.ts'
import type { Dialect } from '../sql/dialect.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'

/** The select lists of one database, cached by selection. */
export class SelectLists {
  readonly #dialect: Dialect
  readonly #hasJsonCheck: (attribute: Attribute) => boolean
  readonly #lists = new WeakMap<Selection, string>()

  constructor(dialect: Dialect, hasJsonCheck: (attribute: Attribute) => boolean) {
    this.#dialect = dialect
    this.#hasJsonCheck = hasJsonCheck
  }

  of(select: Selection): string {
    return getOrInsertComputed(this.#lists, select, () =>
      storedSelection(select)
        .map((attribute) => this.selected(attribute))
        .join(', '),
    )
  }

  selected(attribute: Attribute): string {
    return this.#dialect.selected(attribute, this.#dialect.identifier(attribute.column), this.#hasJsonCheck(attribute))
  }
}
