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
  maxUrlBytes: [16_384, 'bytes of a request’s address; headers may take another 16 kB'],
  maxParameters: [1000, 'names in a query string or a form'],
  maxParameterDepth: [8, 'levels of brackets in a query string or a form'],
  maxBodyBytes: [1_048_576, 'bytes of a request’s body'],
  maxJsonDepth: [32, 'levels of nesting in a JSON body'],
  maxValueBytes: [1_048_576, 'bytes of one text or JSON value'],
  maxConnections: [10_000, 'open connections; past it new ones are closed at once'],
  maxSockets: [9_500, 'open sockets; what is left of `maxConnections` stays for requests over HTTP'],
  maxMessageBytes: [1_048_576, 'bytes of one message on a socket, as many as a body over HTTP may have'],
  maxMessagesPerSecond: [
    1_000,
    'messages one socket may send, as long as it likes; who sends twice as many is cut off',
  ],
  maxRequestsPerSocket: [16, 'requests of one socket that are worked on at once; the others wait their turn'],
  maxQueuedBytes: [
    1_048_576,
    'bytes of events that wait for one connection to take them; past it the connection must start afresh',
  ],
  maxStreams: [5_000, 'open streams of events; what is left of `maxConnections` stays for requests'],
  slowReaderMs: [30_000, 'a reader may take nothing of an answer that comes in pieces; then the connection is closed'],
  pingIntervalMs: [25_000, 'until a socket is asked whether it is still there; proxies give up on silent ones at 60 s'],
  pingTimeoutMs: [60_000, 'a socket that was asked may take to answer; the clients of old wait as long'],
  connectTimeoutMs: [45_000, 'a socket may take to say that it wants to be a client; then its place is for others'],
  maxSubscriptions: [10_000, 'records that one connection listens to; past it the connection must start afresh'],
  requestTimeoutMs: [30_000, 'until a request must have arrived whole; slower senders are dropped'],
  headersTimeoutMs: [10_000, 'until a request’s headers must have arrived'],
  keepAliveTimeoutMs: [65_000, 'an idle connection is kept; proxies give up at 60 s, and must be the first to'],
  statementTimeoutMs: [10_000, 'one statement may take in the database'],
  busyTimeoutMs: [5_000, 'a write or a start waits for a database that another program holds'],
  maxQueuedWrites: [10_000, 'writes waiting for their turn on an embedded database; more are told to come back'],
  stopTimeoutMs: [10_000, 'requests under way may still take when the service stops'],
  logKeepMs: [3_600_000, 'a change stays in the log: it holds deleted personal data, so the time is short'],
  logKeepRows: [1_000_000, 'changes stay in the log at most'],
} as const satisfies Readonly<Record<string, readonly [number, string]>>

export type Limits = { readonly [name in keyof typeof limitTable]: number }

export const defaultLimits = Object.fromEntries(
  Object.entries(limitTable).map(([name, [value]]) => [name, value]),
) as unknown as Limits
