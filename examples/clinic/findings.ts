/** The measurements of a visit. */
export type Findings = {
  readonly temperature?: number
  readonly heartRate?: number
  readonly notes?: readonly string[]
}

interface Issue {
  readonly message: string
  readonly path: readonly string[]
}

/** A Standard Schema (standardschema.dev), as zod, valibot and arktype create them. */
export interface Schema<Value> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => { readonly value: Value } | { readonly issues: readonly Issue[] }
    readonly types?: { readonly input: Value; readonly output: Value }
  }
}

/** Written by hand to show that a library is optional. */
export const findings: Schema<Findings> = {
  '~standard': {
    version: 1,
    vendor: 'clinic',
    validate(value) {
      const issues = issuesOf(value)
      return issues.length === 0 ? { value: value as Findings } : { issues }
    },
  },
}

function issuesOf(value: unknown): readonly Issue[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [{ message: 'must be an object', path: [] }]
  }
  const { temperature, heartRate, notes, ...others } = value as Record<string, unknown>
  return [
    ...outside('temperature', temperature, 30, 45),
    ...outside('heartRate', heartRate, 10, 700),
    ...(notes === undefined || isStringList(notes) ? [] : [{ message: 'must be a list of strings', path: ['notes'] }]),
    ...Object.keys(others).map((name) => ({ message: 'is not a known measurement', path: [name] })),
  ]
}

const outside = (name: string, value: unknown, least: number, most: number): readonly Issue[] =>
  value === undefined || (typeof value === 'number' && value >= least && value <= most)
    ? []
    : [{ message: `must be a number from ${least} to ${most}`, path: [name] }]

const isStringList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
