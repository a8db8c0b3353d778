import { changeLog } from './storage/change-log.ts'
import { faults } from './storage/faults.ts'
import { neighbours } from './storage/neighbours.ts'
import { records } from './storage/records.ts'
import { transactions } from './storage/transactions.ts'
import type { StorageCase } from './storage-case.ts'

/** Everything a store must do. To add a subject: a file in `storage/` and a line here. */
export const storageConformance: readonly StorageCase[] = [
  ...records,
  ...faults,
  ...transactions,
  ...changeLog,
  ...neighbours,
]
