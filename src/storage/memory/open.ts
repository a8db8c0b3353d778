import type { Models } from '../../model/model.ts'
import type { Limits } from '../../support/limits.ts'
import { memoryMetadataTable } from '../metadata-table.ts'
import type { OpenedStore } from '../opened-store.ts'
import { MemoryJobStore } from './job-store.ts'
import { MemoryStore } from './store.ts'

interface MemoryOptions {
  readonly models: Models
  readonly limits?: Limits
}

/** A store that ends with the process: the reference that the databases are tested against. */
export async function openMemory({ models, limits }: MemoryOptions): Promise<OpenedStore> {
  const store = new MemoryStore(models, limits?.maxAffected)
  const jobs = new MemoryJobStore()
  store.changes.heldPositions = () => jobs.positions
  return { store, jobs, steps: [], unenforced: [], notes: memoryMetadataTable() }
}
