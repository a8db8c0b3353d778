/** One option of a command. */
export interface Option {
  /** The placeholder of the value in the help text. An option without it is a switch. */
  readonly valueName?: string
  readonly short?: string
  readonly text: string
}

/** The options of all commands: an option has the same meaning in each of them. */
export const optionTable = {
  config: {
    valueName: 'FILE',
    short: 'c',
    text: 'The configuration file; default: the nearest keelson.config.ts, .js, .mjs, .cjs, .mts or .cts',
  },
  port: {
    valueName: 'NUMBER',
    short: 'p',
    text: 'The port; overrides PORT and the configuration; 0 selects a free port',
  },
  host: { valueName: 'ADDRESS', text: 'The address to listen on; 0.0.0.0 accepts connections from other machines' },
  database: {
    valueName: 'URL',
    short: 'd',
    text: 'The database; overrides DATABASE_URL and the configuration',
  },
  tables: { valueName: 'NAMES', text: 'Only these tables of the database, separated by commas' },
  workers: {
    valueName: 'NUMBER',
    short: 'w',
    text: 'The number of processes that share the port, to use several cores',
  },
  since: { valueName: 'POSITION', text: 'Start after this position, as printed by an earlier run' },
  model: { valueName: 'NAME', short: 'm', text: 'Only this model' },
  as: { valueName: 'USER', text: 'The user, as JSON; null is an anonymous requester' },
  record: { valueName: 'ID', text: 'Say for this record what is allowed, and which rule refuses' },
  action: { valueName: 'ACTION', text: 'list (default), retry or drop' },
  id: { valueName: 'ID', text: 'One dead letter' },
  all: { text: 'All dead letters' },
  job: { valueName: 'NAME', text: 'Only this job' },
  once: { text: 'Print the current content and exit instead of waiting for more' },
  log: { text: 'Print each request' },
  json: { text: 'Print one JSON object per line' },
  verbose: { text: 'Print the stack trace of an error' },
  help: { short: 'h', text: 'Print this help' },
} as const satisfies { readonly [name: string]: Option }

export type OptionName = keyof typeof optionTable

/** The options of one call: text for options with a value, `true` for switches. */
export type OptionValues = {
  readonly [Name in OptionName]?: (typeof optionTable)[Name] extends { readonly valueName: string } ? string : boolean
}
