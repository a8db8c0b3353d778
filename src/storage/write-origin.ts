/** What caused a write, for the change log: a text, or a receipt that also says which operation the write was. */
export type WriteOrigin = string | WriteReceipt

/** Given to one write, and filled in by the database. */
export interface WriteReceipt {
  /** The text that the log keeps. */
  readonly origin: string | undefined
  /** The operation of the change log; undefined while nothing was changed. */
  operation: string | undefined
  /** Until the end of the transaction, where the database names the operation only then: what it is going to be. */
  coming?: (() => string | undefined) | undefined
}

export const operationOf = ({ operation, coming }: WriteReceipt): string | undefined => operation ?? coming?.()

export const originText = (origin: WriteOrigin | undefined): string | undefined =>
  typeof origin === 'object' ? origin.origin : origin

/** Does nothing for a write without a receipt. */
export function setOperation(origin: WriteOrigin | undefined, operation: string | undefined): void {
  if (typeof origin === 'object') origin.operation = operation
}

/** The origin of a write by a requester, in one text: the key of the requester and the peer that it used. */
export const originOf = (requester: string | undefined, peer: string | undefined): string | undefined =>
  requester === undefined ? peer : `${requester}${separator}${peer ?? ''}`

const separator = '/'

/** The parts of an origin text, as members of a change. */
export function changeOrigin(text: string | null | undefined): {
  readonly origin?: string
  readonly requester?: string
} {
  if (text === null || text === undefined) return {}
  const at = text.indexOf(separator)
  if (at === -1) return { origin: text }
  const origin = text.slice(at + 1)
  return { requester: text.slice(0, at), ...(origin !== '' && { origin }) }
}
