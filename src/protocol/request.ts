import type { Peer } from './event.ts'
import type { EncodedJson, Json } from './json.ts'
import type { Requester } from './requester.ts'

export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Characters of the headers of one request, besides its URL. A request within a message or a batch may have as many. */
export const maxHeaderBytes = 16_384

export const sites = ['same-origin', 'same-site', 'cross-site', 'none'] as const
/**
 * The relation of the page that sent a request to the service, in the words of `Sec-Fetch-Site`. 'none': a program or the
 * user sent it, not a page. 'cross-site' includes browsers that do not say.
 */
export type Site = (typeof sites)[number]

/** A request, independent of the transport that carried it. */
export interface ServiceRequest {
  readonly method: string
  /** As it was sent, percent-encoded, without the query string. */
  readonly path: string
  /** The prefix that an enclosing server removed from the path; links in responses begin with it. */
  readonly base?: string | undefined
  /** As it was sent, without the question mark; '' when there is none. */
  readonly query: string
  /** Parsed by the transport; undefined when the request carried none. */
  readonly body?: Json | undefined
  /** Names in lower case. A header sent several times is joined as Node joins it. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Set by the transport. Pages of other origins cannot write, and cross-site pages cannot read by JSONP. */
  readonly site: Site
  /** Whether `cors` lists the origin of the page: such a page may write, except by shortcuts. */
  readonly originAllowed?: boolean | undefined
  /** Aborted when the client disconnects. Created when it is first asked for: most requests never need it. */
  readonly signal?: AbortSignal | undefined
  /** The connection that sent the request, if it can receive events: it is subscribed to the records of the response. */
  readonly peer?: Peer | undefined
  /** It belongs to a batch: its answer is an item of a list, which no stream can be. */
  readonly inBatch?: boolean | undefined
  /** What a framework around the service has left on the request as `user`. */
  readonly frameworkUser?: unknown
  /** The poll of the event loop before which the client had begun to send it; undefined where that is not known. */
  readonly poll?: number | undefined
}

export interface ServiceResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: the response has no body. */
  readonly body?: Json | EncodedJson | undefined
  /** The worker process that can serve the request. Where it can be given to that process, this response is not sent. */
  readonly worker?: string | undefined
  /** Sent in pieces, instead of a body. The consumer must read it to its end or call `return`. */
  readonly stream?: Streamed | undefined
}

/** A response body in pieces, read as fast as the client reads. */
export interface Streamed extends AsyncIterable<string | Uint8Array> {
  /** Present on streams without an end: sends the position at which to resume, and ends the stream. */
  stop?(): void
  /** The characters of what was begun with the last piece and has not been given yet: they wait for the client as well. */
  readonly unsentLength?: number
}

/** A response that is sent again and again. Its headers as a transport sends them are made once. */
export class RepeatedResponse implements ServiceResponse {
  declare readonly status: number
  declare readonly headers: ServiceResponse['headers']
  declare readonly body: EncodedJson | undefined
  /** Names and values in turn, once they were sent. */
  declare sent: (string | number)[] | undefined

  constructor(status: number, headers: ServiceResponse['headers'], body?: EncodedJson) {
    this.status = status
    this.headers = headers
    this.body = body
    this.sent = undefined
  }
}

/** The service as transports see it. `handle` returns synchronously where it can, and never throws for a bad request. */
export interface Service {
  handle(request: ServiceRequest): ServiceResponse | Promise<ServiceResponse>
}

/** What a requester is identified by: a request, or the one that opened a socket. */
export interface Handshake extends Pick<ServiceRequest, 'method' | 'path' | 'query' | 'headers'> {
  /** What a framework around the service has left on the request as `user`. */
  readonly frameworkUser?: unknown
}

/** The service as transports with lasting connections see it. */
export interface LiveService extends Service {
  /** The requester of a connection that is opened. Throws, or rejects with, a ServiceError that refuses it. */
  identify?(handshake: Handshake): Requester | Promise<Requester>
  /** Registers a peer: requests may name it, and it receives the events of its subscriptions. Disposing ends them. */
  connect(peer: Peer): Disposable
}
