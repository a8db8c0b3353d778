/** One measurement of the cost of subscriptions. */
export interface LivePart {
  readonly name: string
  run(bench: LiveBench): Promise<void>
}

export interface LiveBench {
  readonly rounds: number
  readonly seconds: number
  /** Creates a database with the data, which is removed after the part. */
  readonly sqliteUrl: () => Promise<string>
  /** The same on PostgreSQL; undefined without a server. */
  readonly postgresUrl: (() => Promise<string>) | undefined
  /** Options of Node for a server of this name. */
  readonly profile: (name: string) => readonly string[]
}
