/** A commit waits for the disk, so operations that arrive together share one; this bounds the duration of one batch. */
export const maxBatch = 500
/** A batch that has run this long without a pause lets other requests in; its transaction stays open. */
export const maxTurnMs = 10
/** A transaction that has taken this long, or written this much, is committed: a commit of more blocks the event loop. */
export const maxTransactionMs = 50
export const maxTransactionBytes = 2_000_000
