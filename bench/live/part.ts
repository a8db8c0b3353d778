/** One measurement of the cost of subscriptions. */
export interface LivePart {
  readonly name: string
  run(bench: LiveBench): Promise<void>
}

export interface LiveBench {
  readonly rounds: number
  readonly seconds: number
  /** A new database with the data, gone after the part. */
  readonly sqliteUrl: () => Promise<string>
  /** Undefined: there is no server. */
  readonly postgresUrl: (() => Promise<string>) | undefined
  /** Options of Node for a server of this name. */
  readonly profile: (name: string) => readonly string[]
}
