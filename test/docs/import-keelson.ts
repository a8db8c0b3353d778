import { hookImports } from '../../src/cli/import-hooks.ts'

// For `node --import`: a program anywhere on the disk finds the sources of this repository as `keelson`.
hookImports(new Set())
