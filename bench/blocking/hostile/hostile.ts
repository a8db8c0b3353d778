export interface HostileRequest {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** A body that is sent unchanged; by default `body` is sent as JSON. */
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
  /** Whether it is sent to the service with access rules. */
  readonly isRuled?: boolean
  /** With `polling`: how many polls are read at least. The first one is answered when the session is connected. */
  readonly polls?: number
  /** With `bytes`: after how long the client disconnects. By default when it has received nothing for a time. */
  readonly leavesAfterMs?: number
  /** With `bytes`: the number of connections that they are written to at once; default 1. */
  readonly connections?: number
  /** Bytes that open a stream; the position of its rows is the one that `request` is given. */
  readonly resumes?: string
  /** Request number `n`; most of them differ, as those of an attacker do. `position` is an old position in the change log. */
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
