import type { Model } from '../model/model.ts'
import type { Observe } from '../support/observation.ts'
import type { Scan } from './driver.ts'
import { adviseIndex } from './index-advice.ts'

/** Clients can make any number of shapes; a log that contains these is enough to see what is missing. */
const maxReports = 100

/**
 * Reports each kind of query that reads a whole large table once, with the index that would serve it. `keyEnds` tells of which
 * models the database ends each index with the key.
 */
export function reportScans(observe: Observe, keyEnds: (model: Model) => boolean): (scan: Scan) => void {
  const reported = new Set<string>()
  return ({ shape, tables, text }) => {
    if (!shape || reported.size >= maxReports) return
    const index = adviseIndex(shape, keyEnds(shape.model))
    const key = JSON.stringify([shape.model.name, tables, index])
    if (reported.has(key)) return
    reported.add(key)
    observe({ kind: 'scan', model: shape.model.name, tables, ...(index && { index }), text })
  }
}
