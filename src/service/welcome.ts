import { ServiceError } from '../protocol/errors.ts'
import { EncodedJson } from '../protocol/json.ts'
import type { ServiceRequest, ServiceResponse } from '../protocol/request.ts'
import { routesByModel } from './model-routes.ts'
import type { Routes } from './routes.ts'
import { welcomeHtml } from './welcome-html.ts'
import { welcomeList } from './welcome-list.ts'

export type WelcomePage = (request: ServiceRequest) => ServiceResponse

/** What is served here: a page for people, a list for programs. */
export function welcomePage(routes: Routes): WelcomePage {
  const models = routesByModel(routes)
  const list = welcomeList(models)
  return (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new ServiceError('E_METHOD_NOT_ALLOWED', 'This address answers to GET, HEAD, OPTIONS', {
        headers: { Allow: 'GET, HEAD, OPTIONS' },
      })
    }
    const headers = { Vary: 'Accept' }
    if (!wantsPage(request)) return { status: 200, headers, body: list }
    const { markup } = welcomeHtml(models, originOf(request))
    return { status: 200, headers: { ...headers, ...pageHeaders }, body: new EncodedJson(markup) }
  }
}

/** It needs nothing but itself, and nothing may be put into it or around it. */
const policy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': policy,
  'Referrer-Policy': 'no-referrer',
  // The lines to copy name the host they were asked under.
  'Cache-Control': 'no-store',
}

/** Browsers say so; what asks for anything, as curl does, is a program. A script is always told data. */
export const wantsPage = ({ headers, query }: ServiceRequest): boolean =>
  String(headers.accept ?? '').includes('text/html') && !/(?:^|&)callback=/.test(query)

const hostName = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/

/** Where whoever asks has found us, as the lines to copy must say it. A proxy in front may have spoken another protocol. */
function originOf({ headers }: ServiceRequest): string {
  const host = typeof headers.host === 'string' && hostName.test(headers.host) ? headers.host : 'localhost'
  return `${headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'}://${host}`
}
