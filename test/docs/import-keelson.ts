import { registerImportHooks } from '../../src/cli/import-hooks.ts'

// For `node --import`: resolves `keelson` to the sources of this repository, wherever the program is.
registerImportHooks(new Set())
