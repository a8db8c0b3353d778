import { changeLog } from './storage/change-log.ts'
import { changePositions } from './storage/change-positions.ts'
import { faults } from './storage/faults.ts'
import { records } from './storage/records.ts'
import { secondProcess } from './storage/second-process.ts'
import { transactions } from './storage/transactions.ts'
import type { StorageCase } from './storage-case.ts'

/** The conformance suite of stores. A new subject is a file in `storage/` and a line here. */
export const storageConformance: readonly StorageCase[] = [
  ...records,
  ...faults,
  ...transactions,
  ...changeLog,
  ...changePositions,
  ...secondProcess,
]
