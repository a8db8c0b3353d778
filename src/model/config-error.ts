/** All problems of a configuration, so that they can be fixed at once. */
export class ConfigError extends Error {
  /** Each names its model and attribute: `pet.owner: there is no model "ownr"`. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    super(`The configuration has ${count}:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** Receives a problem and its place: `pet` or `pet.owner`. */
export type ErrorListener = (place: string, problem: string) => void
