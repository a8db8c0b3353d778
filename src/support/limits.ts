/** Every limit of the service: name, default, meaning and reason. `docs/limits.md` has the same table. */
export const limitTable = {
  defaultLimit: [30, 'records in a page when the request gives no `limit`'],
  maxLimit: [1000, 'largest `limit` of a find'],
  maxSkip: [1_000_000, 'largest `skip` of a find: the database reads every skipped row'],
  maxConditionCost: [
    300,
    'cost of all conditions, sort orders and populated associations of one request: comparisons, each 100 values of their lists, `and`, `or`, `not` and sort attributes count 1, text searches and comparisons of JSON 5, related conditions 10, related sort attributes 5, populated associations 3',
  ],
  maxDepth: [8, 'levels of `and`, `or` and `not` in one `where`: the parsers of databases have limits'],
  maxListItems: [500, 'values in one `in` or `nin`'],
  maxPatternLength: [1000, 'characters in `contains`, `startsWith`, `endsWith`, `like` or `ilike`'],
  maxSortKeys: [8, 'attributes in one `sort`'],
  maxPopulateDepth: [3, 'levels of nested associations in one response'],
  maxPopulated: [
    50_000,
    'records of one association that `populate` of a read may embed in a response, counted as they are found; what is embedded without `populate` is bounded by `defaultLimit` for each record, and by `maxAnswerBytes`',
  ],
  maxAssociated: [1000, 'members of an association that one request may set'],
  maxUrlBytes: [
    16_384,
    'bytes of a URL, and of the body of a request for an event stream, which keeps its condition; headers may take another 16 kB, also those in a message of a socket or in a batch',
  ],
  maxParameters: [1000, 'parameters in a query string or a form, and names in one `select`, `omit` or `populate`'],
  maxParameterDepth: [8, 'levels of brackets in a query string or a form'],
  maxBodyBytes: [1_048_576, 'bytes of a request body, and of the key set at `auth.jwt.jwksUri`'],
  maxBodyChunks: [
    10_000,
    'chunks of at most 1 kB in a request body without a length: each takes as long to read as a kilobyte of a longer one',
  ],
  maxXmlBytes: [262_144, 'bytes of an XML body: it takes several times as long to parse as JSON'],
  maxJsonDepth: [32, 'levels of nesting in a JSON body'],
  maxJsonValues: [
    150_000,
    'names and values in a JSON body of more than 64 kB, at all of its levels, and in JSON that a body gives as a text, such as `where` in a form',
  ],
  maxJsonNames: [10_000, 'different names in a JSON body of more than 64 kB: a parser takes longer for new names'],
  maxValueBytes: [1_048_576, 'bytes of one text or JSON value'],
  maxRecordBytes: [
    2_097_152,
    'bytes of the texts, JSON values and bytes of one record: a change writes it and, to the log, both of its images',
  ],
  maxPlans: [1000, 'parsed requests for lists that are kept, by address, and as many by shape: all but the values'],
  maxKeptBytes: [
    33_554_432,
    'bytes of answers to lists and of records, and of texts of single records, that are kept for when they are asked for again; 0: none is kept',
  ],
  maxConnections: [10_000, 'open connections; further ones are closed at once'],
  maxSockets: [9_500, 'open sockets; the rest of `maxConnections` is reserved for HTTP requests'],
  maxMessageBytes: [1_048_576, 'bytes of one socket message'],
  maxMessagesPerSecond: [1_000, 'sustained rate of messages of one socket; at twice the rate it is disconnected'],
  maxRequestsPerSocket: [16, 'requests of one socket that run concurrently; further ones wait in a queue'],
  maxQueuedBytes: [1_048_576, 'bytes of undelivered events of one connection; above it the connection is reset'],
  maxStreams: [5_000, 'open event streams; the rest of `maxConnections` is reserved for other requests'],
  maxLiveQueries: [100, 'live queries of one stream'],
  maxLiveRuns: [4, 'live queries that are read again at once; further ones wait, those of each stream in turn'],
  maxLiveRows: [
    2_000_000,
    'rows of the results of all live queries, of which about 150 bytes are kept, and at most 255 characters of what they are sorted by; 25 characters of the conditions of one count as a row, and so does each key that a client holds of one that is yet to be read',
  ],
  maxCatchUps: [
    4,
    'clients that read the change log at once from an earlier position; further ones wait in turn, but not those that were at its end in the last minute, of which as many read at once',
  ],
  streamIdleTimeoutMs: [
    30_000,
    'a client, also a socket, may read nothing of what is sent to it for this long; then the connection is closed',
  ],
  pingIntervalMs: [25_000, 'interval of pings on a socket: proxies close connections that are idle for 60 s'],
  pingTimeoutMs: [60_000, 'wait for the answer to a ping; the value of Socket.IO 2'],
  connectTimeoutMs: [45_000, 'wait for the connect packet of a new socket'],
  maxRecentEvents: [
    20_000,
    'events kept while a request over a socket runs; a request that takes longer than that many is disconnected',
  ],
  maxRecentBytes: [67_108_864, 'bytes of these events; a request that takes longer than that many is disconnected'],
  maxSubscriptions: [10_000, 'records that one connection may subscribe to; above it the connection is reset'],
  maxSubscribedRecords: [
    1_000_000,
    'subscriptions of all sockets to records, of up to 800 bytes each; above it the socket with the most is reset',
  ],
  maxAfterWaitMs: [5_000, 'wait of a request with `Keelson-After` until its position is reached'],
  maxAnswerBytes: [
    16_777_216,
    'bytes of a response: embedding repeats a record in every record that refers to it; the reads for it return at most twice as many',
  ],
  maxWaitingBytes: [
    268_435_456,
    'bytes of responses, events, operations to be reported and changes read from the log that wait for all clients, and of requests and messages that have not arrived completely, or wait for those before them on their connection; above it the slowest clients are disconnected. As many, estimated, for the bodies of the requests that are executed; above it further ones get 503, and one that is heavier alone gets 413',
  ],
  requestTimeoutMs: [30_000, 'time to receive a whole request'],
  headersTimeoutMs: [10_000, 'time to receive the headers of a request'],
  keepAliveTimeoutMs: [65_000, 'idle time of a connection: longer than the 60 s of proxies, which must close first'],
  maxAffected: [10_000, 'rows that one operation may change, including the associated records that it changes'],
  maxAffectedBytes: [
    16_777_216,
    'bytes of the rows that one operation may change: the change log keeps them as they were and as they are, in one commit',
  ],
  hookTimeoutMs: [
    10_000,
    'duration of one hook before a transaction, of `auth.identify` and of a schema; then the request gets 503',
  ],
  maxHookDepth: [8, 'hooks whose writes run further hooks; a chain of more ends with an error'],
  maxScans: [
    2,
    'scans that run at once on SQLite, each in a reader process of about 50 MB; further ones wait. Long reads of a write have one more process',
  ],
  maxServerScans: [
    4,
    'scans that one process runs at once on PostgreSQL; on the machine of the server at most one for each processor, and at least 2; further ones wait',
  ],
  maxBlockMs: [
    25,
    'time that one read may block the event loop on SQLite, of which half may be CPU time; then it is repeated in a reader process',
  ],
  actionTimeoutMs: [30_000, 'duration of an action that runs outside of a transaction'],
  statementTimeoutMs: [10_000, 'duration of one database statement'],
  maxBatch: [200, 'requests in one batch'],
  transactionTimeoutMs: [
    5_000,
    'duration of a transaction of the application: on SQLite all other writes wait for it, for at most `busyTimeoutMs`',
  ],
  writeTimeoutMs: [
    30_000,
    'duration of the statements of one write, with all repetitions after conflicts; then it is rolled back, also when its client has left',
  ],
  maxTransactionBlockMs: [
    250,
    'processor time for which the reads of one transaction that take more than 5 ms may block the event loop on SQLite after it has written, in a batch each for `maxBlockMs`; then it is rolled back',
  ],
  busyTimeoutMs: [5_000, 'wait for a database that another process has locked'],
  maxQueuedWrites: [10_000, 'writes in the queue of an embedded database; further ones get 503'],
  stopTimeoutMs: [10_000, 'time for requests in progress when the service stops'],
  logKeepMs: [3_600_000, 'age of changes in the log; short, because the log contains deleted personal data'],
  logKeepRows: [1_000_000, 'number of changes in the log'],
  logKeepBytes: [
    1_073_741_824,
    'bytes of the changes in the log, and as many of stored answers: the oldest are deleted when an eighth more was written',
  ],
  jobLogKeepMs: [86_400_000, 'age of changes in the log that a job has yet to handle; older ones are lost to it'],
  jobLogKeepRows: [5_000_000, 'number of changes in the log, as far as a job has yet to handle them'],
  jobLogKeepBytes: [4_294_967_296, 'bytes of the changes in the log, as far as a job has yet to handle them'],
  jobTimeoutMs: [60_000, 'duration of one run of a job that declares no `timeoutMs`; then it has failed'],
  jobRetryMs: [
    1_000,
    'delay after the first failure of a run; each further one is three times as long, at most 1 hour, and up to half of it is left out at random',
  ],
  maxJobBacklog: [10_000, 'events of one job that wait for a retry; above it the job reads no further changes'],
  maxJobBacklogBytes: [67_108_864, 'bytes of these events; above it the job reads no further changes'],
  deadLetterKeepBytes: [
    67_108_864,
    'bytes of the dead letters of one job: the oldest are dropped when an eighth more was stored',
  ],
  jobLeaseMs: [
    5_000,
    'time after which another process takes over the jobs of one that has ended, where it has no lock',
  ],
} as const satisfies Readonly<Record<string, readonly [number, string]>>

/** The limits of a service. `docs/limits.md` lists their defaults and meanings. */
export type Limits = { readonly [name in keyof typeof limitTable]: number }

export const defaultLimits = Object.fromEntries(
  Object.entries(limitTable).map(([name, [value]]) => [name, value]),
) as unknown as Limits
