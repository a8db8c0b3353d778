import type { Json } from '../../protocol/json.ts'
import type { ServiceRequest, Site } from '../../protocol/request.ts'
import type { OriginPolicy } from '../origin-policy.ts'

/** What a runtime knows of a request besides HTTP itself. */
export interface RequestSource {
  /** Aborted when the client disconnects. */
  readonly signal?: AbortSignal | undefined
}

/**
 * A request over HTTP, whatever the runtime. `target` is the request target as it was sent: a path, or an absolute URL as
 * proxies send it. What only some requests need is computed when it is asked for.
 */
export class HttpRequest<Source extends object = RequestSource> implements ServiceRequest {
  declare readonly method: string
  declare readonly path: string
  declare readonly query: string
  declare readonly headers: ServiceRequest['headers']
  declare readonly source: Source
  declare readonly policy: OriginPolicy
  declare readonly poll: number | undefined
  declare body: Json | undefined

  constructor(
    policy: OriginPolicy,
    method: string,
    target: string,
    headers: ServiceRequest['headers'],
    source: Source,
    poll?: number,
  ) {
    const url = target.startsWith('/') ? target : withoutOrigin(target)
    const mark = url.indexOf('?')
    this.method = method
    this.path = mark === -1 ? url : url.slice(0, mark)
    this.query = mark === -1 ? '' : url.slice(mark + 1)
    this.headers = headers
    this.source = source
    this.policy = policy
    this.poll = poll
    this.body = undefined
  }

  get site(): Site {
    return this.policy.siteOf(this.method, this.headers)
  }

  get originAllowed(): boolean {
    return this.policy.lists(this.headers.origin)
  }

  get signal(): AbortSignal | undefined {
    return (this.source as RequestSource).signal
  }
}

/** The part of `http://host/path?query` after the host. Anything else is returned unchanged. */
function withoutOrigin(target: string): string {
  const origin = /^https?:\/\/[^/?#]*/i.exec(target)?.[0]
  if (origin === undefined) return target
  const rest = target.slice(origin.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}
