export interface HostileRequest {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** A body as it is; by default `body` is sent as JSON. */
  readonly text?: string
  /** Bytes that are written when `text` has been answered. */
  readonly then?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Hostile {
  readonly name: string
  /**
   * `socket`: requests over one socket, where a find reads a snapshot. `stream`: the answer does not end, so the connection
   * is closed after a time. `bytes`: `text` is written to a connection as it is. `polling`: `text` is sent in a new session of
   * long polling, by version 3 of Engine.IO, and the answers of one poll are read.
   */
  readonly over?: 'socket' | 'stream' | 'bytes' | 'polling'
  /** To the service with access rules. */
  readonly isRuled?: boolean
  /** Of `polling`: so many polls are read at least. The first one is answered when the session is connected. */
  readonly polls?: number
  /** Of `bytes`: the client leaves so long after it has written. By default when nothing has come for a time. */
  readonly leavesAfterMs?: number
  /** Bytes are written to so many connections at once. One request at a time is sent. */
  readonly connections?: number
  /** The request number `n`; most of them differ, as those of an attacker do. `position` is an old one of the change log. */
  readonly request: (n: number, position: string) => HostileRequest
}

export const find = (model: string, where: unknown, rest = ''): HostileRequest => ({
  method: 'GET',
  path: `/${model}?where=${encodeURIComponent(JSON.stringify(where))}&populate=false${rest}`,
})

export const patch = (model: string, where: unknown, body: unknown, rest = ''): HostileRequest => ({
  method: 'PATCH',
  path: `/${model}?where=${encodeURIComponent(JSON.stringify(where))}${rest}`,
  body,
})

export const get = (path: string, headers: Readonly<Record<string, string>> = {}): HostileRequest => ({
  method: 'GET',
  path,
  headers,
})

export const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): HostileRequest => ({
  method: 'POST',
  path,
  body,
  headers,
})

export const several = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i))
