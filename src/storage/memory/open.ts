import type { Models } from '../../model/model.ts'
import { memoryNotes } from '../notes.ts'
import type { OpenedStore } from '../opened-store.ts'
import { MemoryStore } from './store.ts'

/** A store that lives as long as the process: the reference that the databases are held to. */
export const openMemory = async ({ models }: { readonly models: Models }): Promise<OpenedStore> => ({
  store: new MemoryStore(models),
  steps: [],
  unenforced: [],
  notes: memoryNotes(),
})
