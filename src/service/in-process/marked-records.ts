import { markInternal } from '../../operation/hooks/call-hook.ts'
import type { LooseRecords } from './records.ts'

/** The same operations; their failures are known as those of the application and not of the request. */
export function marked(records: LooseRecords, mark = markInternal): LooseRecords {
  const operations = Object.entries(records).map(([name, operation]) => [
    name,
    (...given: readonly unknown[]) => {
      const result = (operation as (...given: readonly unknown[]) => unknown)(...given)
      if (result instanceof Promise) result.catch(mark)
      return result
    },
  ])
  return Object.fromEntries(operations)
}
