import { storedSources } from '../model/computed.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import type { Selection } from './criteria.ts'

const selections = new WeakMap<Selection, Selection>()

/** What is read for a selection: its stored attributes and those that computed ones depend on. Itself without computed ones. */
export const storedSelection = (select: Selection): Selection =>
  getOrInsertComputed(selections, select, () =>
    select.some(({ computed }) => computed)
      ? [...new Set([...select.filter(({ computed }) => !computed), ...select.flatMap(storedSources)])]
      : select,
  )
