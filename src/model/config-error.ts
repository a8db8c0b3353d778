/** What the configuration says cannot be. All of it at once, so that it is mended in one go. */
export class ConfigError extends Error {
  /** Each names the model and the attribute: `pet.owner: there is no model "ownr"`. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    super(`The configuration has ${count}:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** Takes a problem of `pet` or `pet.owner`. */
export type Report = (place: string, problem: string) => void
