/** One thing that can be said to a command. */
export interface Option {
  /** What stands for the value in the help; without it the option is a switch. */
  readonly takes?: string
  readonly short?: string
  readonly text: string
}

/** Every option of every command, so that a name means the same everywhere. */
export const optionTable = {
  config: {
    takes: 'FILE',
    short: 'c',
    text: 'The configuration; else the nearest keelson.config.ts, .js or .mjs',
  },
  port: {
    takes: 'NUMBER',
    short: 'p',
    text: 'The port, before PORT and the configuration; 0 takes a free one',
  },
  host: { takes: 'ADDRESS', text: 'The address to listen on; 0.0.0.0 lets other machines connect' },
  database: {
    takes: 'URL',
    short: 'd',
    text: 'The database, before DATABASE_URL and the configuration',
  },
  workers: { takes: 'NUMBER', short: 'w', text: 'So many processes share the port, where one core is not enough' },
  since: { takes: 'POSITION', text: 'Begin behind this position, as an earlier run printed it' },
  model: { takes: 'NAME', short: 'm', text: 'Only what concerns this model' },
  once: { text: 'Print what is there and end, instead of waiting for more' },
  json: { text: 'One JSON object per line, for programs' },
  verbose: { text: 'Say where in the code an error came from' },
  help: { short: 'h', text: 'Show this' },
} as const satisfies { readonly [name: string]: Option }

export type OptionName = keyof typeof optionTable

/** What was said. */
export type Given = {
  readonly [Name in OptionName]?: (typeof optionTable)[Name] extends { readonly takes: string } ? string : boolean
}
