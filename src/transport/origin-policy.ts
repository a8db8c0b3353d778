import { isIP } from 'node:net'
import { type ServiceRequest, type Site, sites } from '../protocol/request.ts'
import type { CorsOptions } from '../service/config/config.ts'

type Headers = ServiceRequest['headers']
type Header = Headers[string]

export interface OriginOptions {
  /** Origins of other sites whose pages may use the service. */
  readonly cors?: CorsOptions | undefined
  /** Host names of the service besides IP addresses and localhost; '*' accepts every name. */
  readonly allowedHosts?: readonly string[] | '*' | undefined
}

/**
 * Decides by the headers of a request which page sent it, for HTTP and sockets alike. A page whose DNS name was rebound
 * to the address of the service looks like a page of the service itself: only a check of the `Host` header shows it.
 */
export class OriginPolicy {
  readonly #origins: ReadonlySet<string> | '*'
  readonly #credentials: boolean
  readonly #hosts: ReadonlySet<string> | '*'
  /** The latest accepted `Host`: most requests repeat it. */
  acceptedHost: Header

  constructor({ cors, allowedHosts = [] }: OriginOptions) {
    this.#origins = cors?.origins === '*' ? '*' : new Set(cors?.origins)
    this.#credentials = cors?.credentials === true
    this.#hosts = allowedHosts === '*' ? '*' : new Set(allowedHosts)
  }

  /**
   * Whether the service answers to a `Host` header: IP addresses and localhost, which DNS cannot rebind, and
   * `allowedHosts`. Without the header (HTTP/1.0) no browser sent the request.
   */
  acceptsHost(host: Header): boolean {
    if (host === undefined || host === this.acceptedHost) return true
    const name = typeof host === 'string' ? hostForm.exec(host.toLowerCase())?.[1] : undefined
    if (name === undefined) return false
    const isAccepted =
      this.#hosts === '*' ||
      isAddress(name) ||
      isLocalName(name) ||
      this.#hosts.has(name) ||
      this.#hosts.has(String(host).toLowerCase())
    if (isAccepted) this.acceptedHost = host
    return isAccepted
  }

  /** Whether `cors` lists an origin. */
  lists(origin: Header): boolean {
    return typeof origin === 'string' && (this.#origins === '*' || this.#origins.has(origin))
  }

  /**
   * The relation of the page that sent a request to the service. Where there is an `Origin`, it is compared. Without
   * `Sec-Fetch-Site`, which browsers send to https and loopback only, a GET of a browser proves nothing.
   */
  siteOf(method: string, headers: Headers): Site {
    const { host, origin, referer } = headers
    const claim = headers['sec-fetch-site']
    const site = claim === undefined ? undefined : (sites.find((word) => word === claim) ?? 'cross-site')
    if (origin === undefined && site !== undefined && site !== 'cross-site') return site
    const page = origin ?? referer
    if (page === undefined)
      return site ?? ((method === 'GET' || method === 'HEAD') && isBrowser(headers) ? 'cross-site' : 'none')
    const url = typeof page === 'string' ? URL.parse(page) : null
    if (url && this.#isOwn(url, host)) return site ?? 'same-origin'
    return site === 'same-site' || (url && isLoopback(url, host)) ? 'same-site' : 'cross-site'
  }

  /**
   * What a page may do with a socket: a browser sends cookies with the handshake of any page and asks for no permission.
   * With `only`, the pages of these origins and no others may connect.
   */
  socketAccess({ host, origin }: Headers, only?: readonly string[]): 'with cookies' | 'without cookies' | 'none' {
    if (!this.acceptsHost(host)) return 'none'
    if (origin === undefined) return 'with cookies' // not a browser
    if (typeof origin !== 'string') return 'none'
    if (only) return only.includes(origin) ? 'with cookies' : 'none'
    const url = URL.parse(origin)
    if (url && this.#isOwn(url, host)) return 'with cookies'
    if (!this.lists(origin)) return 'none'
    return this.#credentials ? 'with cookies' : 'without cookies'
  }

  /** Whether a page has the host and port that the request was sent to, or that a proxy replaced by others. */
  #isOwn(page: URL, host: Header): boolean {
    if (page.protocol !== 'http:' && page.protocol !== 'https:') return false
    if (typeof host === 'string' && URL.parse(`${page.protocol}//${host}`)?.host === page.host) return true
    return this.#hosts !== '*' && this.#hosts.has(page.host)
  }
}

/** A name or an address, and perhaps a port. */
const hostForm = /^([^\s:/?#@\\[\]]+|\[[\da-f:.]+\])(?::\d{1,5})?$/

const isAddress = (name: string): boolean => isIP(name.replace(/^\[|\]$/g, '')) !== 0
const isLocalName = (name: string): boolean => /^(?:[\w-]+\.)*localhost\.?$/.test(name)
const isLoopbackName = (name: string): boolean =>
  isLocalName(name) || name === '[::1]' || (isIP(name) === 4 && name.startsWith('127.'))

/** Whether page and service are both on this machine, which `Sec-Fetch-Site` calls cross-site for two names of it. */
const isLoopback = (page: URL, host: Header): boolean =>
  isLoopbackName(page.hostname) &&
  typeof host === 'string' &&
  isLoopbackName(URL.parse(`http://${host}`)?.hostname ?? '')

/** Every browser begins its `User-Agent` so, and a page cannot change it; other methods than GET carry an `Origin`. */
const isBrowser = (headers: Headers): boolean => String(headers['user-agent'] ?? '').startsWith('Mozilla/')

/** Whether a page may have sent the request: one of these headers says so, and pages can leave out `Referer` only. */
export const isOfPage = (headers: Headers): boolean =>
  (headers.origin ?? headers.referer ?? headers['sec-fetch-site']) !== undefined || isBrowser(headers)

/** Whether a request has a header several times. Node keeps the first; a proxy in front may have judged the last. */
export function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let found = false
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index] as string
    if (header.length !== name.length || header.toLowerCase() !== name) continue
    if (found) return true
    found = true
  }
  return false
}
