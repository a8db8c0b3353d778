export const bounds = {
  /** A commit waits for the disk, so operations that arrive together share one; this bounds the duration of one batch. */
  maxBatch: 500,
  /** Turns of the event loop after the first, and the time, in which further writes may join a commit. */
  maxGatherTurns: 8,
  maxGatherMs: 5,
  /** A batch that has run this long without a pause lets other requests in; its transaction stays open. */
  maxTurnMs: 10,
  /** A transaction that has taken this long, or written this much, is committed: a commit of more blocks the event loop. */
  maxTransactionMs: 50,
  maxTransactionBytes: 2_000_000,
  /** Writes whose answers are made in one turn of the event loop; one, where a transaction has written more than these bytes. */
  answeredAtOnce: 100,
  answeredBytes: 500_000,
  /** Each run detects one more statement with integers beyond 2^53; no operation has as many. */
  maxRuns: 100,
  /** Between two looks for writes that have waited too long for a transaction of the application. */
  overdueCheckMs: 50,
}
