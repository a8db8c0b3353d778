import type { Peer } from './event.ts'
import type { EncodedJson, Json } from './json.ts'

export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
export type Method = (typeof methods)[number]
export const isMethod = (word: string): word is Method => (methods as readonly string[]).includes(word)

/** What somebody asks for, whichever transport carried it. */
export interface ServiceRequest {
  readonly method: string
  /** As it was sent, percent-encoded, without the query string. */
  readonly path: string
  /** What a server around us took off the front of the path; links that are answered begin with it. */
  readonly base?: string | undefined
  /** As it was sent, without the question mark; '' when there is none. */
  readonly query: string
  /** Parsed by the transport; undefined when the request carried none. */
  readonly body?: Json | undefined
  /** Names in lower case. A header sent several times is joined as Node joins it. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Who asks and stays to listen: what it is answered, it also follows. */
  readonly peer?: Peer | undefined
}

export interface ServiceResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: the answer has no body. */
  readonly body?: Json | EncodedJson | undefined
  /** In place of a body, what is sent piece by piece. Whoever gets it must take it to its end, or call `return`. */
  readonly stream?: Streamed | undefined
}

/** An answer in pieces, taken as fast as whoever asked takes them. */
export interface Streamed extends AsyncIterable<string | Uint8Array> {
  /** Given where there is no end in sight: says where to go on later, and ends. */
  stop?(): void
}

/** All that a transport knows of the service. It answers at once where it can, and never throws for what was asked. */
export interface Service {
  handle(request: ServiceRequest): ServiceResponse | Promise<ServiceResponse>
}

/** What a transport whose connections stay knows besides. */
export interface LiveService extends Service {
  /** From now on the peer may be named in requests, and hears what they make it follow; disposing of it ends that. */
  connect(peer: Peer): Disposable
}
