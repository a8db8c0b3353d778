import { reportToParent } from '../child.ts'

/* Imported before the program of the package, which then ends when it is asked to, and reports its usage. */
reportToParent(async () => {})
