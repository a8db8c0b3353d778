/** Every limit of the service: its name, what it is by default, and why. */
export const limitTable = {
  defaultLimit: [30, 'records a find returns when it does not say; the interface names this number'],
  maxLimit: [1000, 'most records one find may ask for; a page larger than this is an export'],
  maxSkip: [1_000_000, 'most records a find may skip: the database walks over each of them'],
  maxConditions: [100, 'comparisons in one `where`'],
  maxDepth: [8, 'levels of `and`, `or`, `not` in one `where`; deeper trees exhaust the databases’ own parsers'],
  maxListItems: [500, 'values in one `in` or `nin`'],
  maxPatternLength: [1000, 'characters in `contains`, `startsWith`, `endsWith` or `like`'],
  maxSortKeys: [8, 'attributes in one `sort`'],
  maxPopulateDepth: [3, 'levels of associations within associations in one answer'],
  maxPopulated: [50_000, 'records that one association may add to an answer at most, counted as limit times limit'],
  maxAssociated: [1000, 'records that one request may set as the members of an association'],
  maxUrlBytes: [16_384, 'bytes of a request’s address; the HTTP server itself stops at 16 kB of headers'],
  maxParameters: [1000, 'names in a query string or a form'],
  maxParameterDepth: [8, 'levels of brackets in a query string or a form'],
  maxBodyBytes: [1_048_576, 'bytes of a request’s body'],
  maxJsonDepth: [32, 'levels of nesting in a JSON body'],
  maxValueBytes: [1_048_576, 'bytes of one text or JSON value'],
  maxConnections: [10_000, 'open connections; past it new ones are closed at once'],
  maxSubscriptions: [10_000, 'records that one connection listens to; past it the connection must start afresh'],
  requestTimeoutMs: [30_000, 'until a request must have arrived whole; slower senders are dropped'],
  headersTimeoutMs: [10_000, 'until a request’s headers must have arrived'],
  keepAliveTimeoutMs: [65_000, 'an idle connection is kept; proxies give up at 60 s, and must be the first to'],
  statementTimeoutMs: [10_000, 'one statement may take in the database'],
  busyTimeoutMs: [5_000, 'a write waits for a database that another program holds'],
  maxQueuedWrites: [10_000, 'writes waiting for their turn on an embedded database; more are told to come back'],
  stopTimeoutMs: [10_000, 'requests under way may still take when the service stops'],
  logKeepMs: [3_600_000, 'a change stays in the log: it holds deleted personal data, so the time is short'],
  logKeepRows: [1_000_000, 'changes stay in the log at most'],
} as const satisfies Readonly<Record<string, readonly [number, string]>>

export type Limits = { readonly [name in keyof typeof limitTable]: number }

export const defaultLimits = Object.fromEntries(
  Object.entries(limitTable).map(([name, [value]]) => [name, value]),
) as unknown as Limits
